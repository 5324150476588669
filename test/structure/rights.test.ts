import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { documentedCommands } from '../support/minimalUser.js'

const src = fileURLToPath(new URL('../../src', import.meta.url))
const text = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('testing'))
  .map((file) => readFileSync(join(src, file), 'utf8').replaceAll(/^\s*\*.*$/gm, ''))
  .join('\n')

const CONTAINERS = new Set(['XGROUP', 'XINFO'])

/** What the scripts call, and what the connections send by themselves. */
const used = new Set(
  [/redis\.p?call\(\s*'([A-Z]+)'(?:,\s*'([A-Z]+)')?/g, /\[\s*'([A-Z]+)'(?:,\s*'([A-Z]+)')?[^\]]*\]/g].flatMap(
    (pattern) =>
      [...text.matchAll(pattern)].map(([, command = '', sub = '']) =>
        (CONTAINERS.has(command) ? `${command}|${sub}` : command).toLowerCase(),
      ),
  ),
)

it('the documented rights are those that the sources ask for, and no others', () => {
  // Every user may send HELLO. The client names a connection by itself. Replies of the server are no commands.
  for (const free of ['hello', 'readonly']) used.delete(free)
  expect(documentedCommands.filter((command) => command !== 'client|setname').sort()).toEqual([...used].sort())
})
