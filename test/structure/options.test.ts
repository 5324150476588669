import { readFileSync } from 'node:fs'

import ts from 'typescript'
import { expect, it } from 'vitest'

import { readPublicSurface } from '../support/publicSurface.js'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [, section = ''] = /^## Options$([^]*?)^\| Capability/m.exec(readme) ?? []

/** By option: its default, as the table of the README has it. */
const inTable = Object.fromEntries<string | undefined>(
  [...section.matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm)].map(([, name = '', byDefault]) => [
    name,
    byDefault?.replaceAll('`', ''),
  ]),
)

/** The same as the docstrings have it. What stands behind a colon there explains it. */
const inTypes = (() => {
  const { program, exports } = readPublicSurface()
  const checker = program.getTypeChecker()
  const [declaration] = exports.find(({ name }) => name === 'RedisTaskRunnerOptions')?.declarations ?? []
  if (declaration === undefined) throw new Error('There are no options')
  return Object.fromEntries(
    checker
      .getTypeAtLocation(declaration)
      .getProperties()
      .map((option) => {
        const tag = option.getJsDocTags(checker).find(({ name }) => name === 'default')
        const byDefault = ts.displayPartsToString(tag?.text).split(':')[0]?.trim()
        return [option.name, option.flags & ts.SymbolFlags.Optional ? byDefault : 'required']
      }),
  )
})()

it('the options of the README are those that there are, with their defaults', () => {
  expect(inTable).toEqual(inTypes)
  expect(Object.keys(inTable).length).toBeGreaterThan(20)
})
