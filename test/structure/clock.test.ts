import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../packages/task-runner/src', import.meta.url))

/** Where time and chance of the platform come in; all else takes them from a clock. */
const DOORS = [
  'handler/calculateBackoff.ts', // chance is an argument, with a default
  'testing/clockDriver.ts',
  'testing/createTestRunner.ts',
  'testing/runTaskToCompletion.ts',
  'testing/virtualClock.ts',
  'testing/virtualTime.ts',
  'time/longTimeout.ts',
  'time/systemClock.ts',
]

it('takes time and chance from a clock everywhere in the runner', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const platform =
    /\b(Date\.now|performance\.now|setTimeout|setInterval|setImmediate|longTimeout|Math\.random)\b|new Date\(\)/
  const users = files.filter((file) => {
    const code = readFileSync(join(src, file), 'utf8').replaceAll(/^\s*(\/?\*|\/\/).*$/gm, '')
    return platform.test(code)
  })
  expect(users.map((file) => file.replaceAll('\\', '/')).sort()).toEqual(DOORS)
})
