import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { faultsOfExamples } from '../support/faultsOfExamples.js'
import { examplesOf, membersOf, readPublicSurface } from '../support/publicSurface.js'

/** What examples take for granted stands in `test/support/exampleGivens.ts`. */
it('the examples of all that is exported compile', () => {
  const examples = readPublicSurface().exports.flatMap(({ where, declarations }) =>
    declarations
      .flatMap((declaration) => [declaration, ...membersOf(declaration)])
      .flatMap((declaration) =>
        examplesOf(declaration).map((code) => ({ where, file: declaration.getSourceFile().fileName, code })),
      ),
  )
  expect(faultsOfExamples(examples, fileURLToPath(new URL('../support/exampleGivens.ts', import.meta.url)))).toEqual([])
  expect(examples.length).toBeGreaterThan(200)
}, 120_000)
