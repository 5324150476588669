import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { faultsOfExamples } from '../support/faultsOfExamples.js'
import { readExamples } from '../support/readExamples.js'

/** What examples take for granted stands in `test/support/exampleGivens.ts`. */
const given = fileURLToPath(new URL('../support/exampleGivens.ts', import.meta.url))

it('the examples of all docstrings compile', () => {
  const examples = readExamples()
  expect(faultsOfExamples(examples, given)).toEqual([])
  expect(examples.length).toBeGreaterThan(300)
}, 120_000)

it('an example that is not true does not', () => {
  const [first] = readExamples()
  const wrong = ['new NoSuchThing()', "lane('mail')", "import { nothing } from 'rxjs'", 'const {'].map((code) => ({
    where: 'here',
    file: first?.file ?? '',
    code,
  }))
  const faults = faultsOfExamples(wrong, given)
  expect(faults[0]).toBe("here: Cannot find name 'NoSuchThing'.")
  expect(faults.length).toBeGreaterThanOrEqual(wrong.length)
}, 60_000)
