import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { commandsIn, documentedRuleOf } from '../support/documentedRule.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const CONTAINERS = new Set(['CLIENT', 'XGROUP', 'XINFO'])

/** What the scripts of a folder call, and what the connections send by themselves. */
const usedIn = (folder: string): Set<string> => {
  const text = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('testing'))
    .map((file) => readFileSync(join(root, folder, file), 'utf8').replaceAll(/^\s*\*.*$/gm, ''))
    .join('\n')
  return new Set(
    [/redis\.p?call\(\s*'([A-Z]+)'(?:,\s*'([A-Z]+)')?/g, /\[\s*'([A-Z]+)'(?:,\s*'([A-Z]+)')?[^\]]*\]/g].flatMap(
      (pattern) =>
        [...text.matchAll(pattern)].map(([, command = '', sub = '']) =>
          (CONTAINERS.has(command) ? `${command}|${sub}` : command).toLowerCase(),
        ),
    ),
  )
}

it.each([
  ['src', 'docs/operations.md'],
  ['packages/redis-cross-node-bus/src', 'packages/redis-cross-node-bus/README.md'],
])('the rights that are documented are those that %s asks for, and no others', (folder, document) => {
  const used = usedIn(folder)
  // Replies of the server and options are no commands. The client names a connection by itself.
  for (const word of ['loading', 'block', 'maxlen', 'minid']) used.delete(word)
  const documented = commandsIn(documentedRuleOf(document)).filter((command) => command !== 'client|setname')
  expect(documented.sort()).toEqual([...used].sort())
})

it('a user for runner and bus is documented to have the rights of both, and no others', () => {
  const runner = documentedRuleOf('docs/operations.md')
  const bus = documentedRuleOf('packages/redis-cross-node-bus/README.md')
  const both = commandsIn(documentedRuleOf('docs/operations.md', 'the bus'))
  expect(both.sort()).toEqual([...new Set(commandsIn([...runner, ...bus]))].sort())
})
