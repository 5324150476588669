import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'
import { expect, it } from 'vitest'

import { readPublicSurface } from '../support/publicSurface.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** By option: its default, as the table of a document has it. */
const optionsIn = (document: string): Record<string, string | undefined> => {
  const [, table = ''] = /^\| Option [^]*?$((?:\n\|.*$)+)/m.exec(readFileSync(root + document, 'utf8')) ?? []
  return Object.fromEntries<string | undefined>(
    [...table.matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm)].map(([, name = '', byDefault]) => [
      name,
      byDefault?.replaceAll('`', ''),
    ]),
  )
}

const { program, exports } = readPublicSurface()
const checker = program.getTypeChecker()

/** The same as the docstrings have it. What stands behind a colon there explains it. */
const optionsOf = (type: string): Record<string, string | undefined> => {
  const [declaration] = exports.find(({ name }) => name === type)?.declarations ?? []
  if (declaration === undefined) throw new Error(`There is no ${type}`)
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
}

it.each([
  ['README.md', 'RedisTaskRunnerOptions'],
  ['packages/redis-cross-node-bus/README.md', 'RedisCrossNodeBusOptions'],
])('the options in %s are those that there are, with their defaults', (document, type) => {
  const documented = optionsIn(document)
  expect(documented).toEqual(optionsOf(type))
  expect(Object.keys(documented).length).toBeGreaterThan(10)
})
