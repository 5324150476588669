import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { deadLettersLua } from './deadLettersLua.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Counts dead letters, and forgets the oldest ones if they are gone, a hundred at most.
 *
 * KEYS: 1 root, 2 the index. Returns: how many there are.
 */
const script = defineScript(
  'countDeadLetters',
  clockLua +
    deadLettersLua +
    `
for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, 99)) do
  if isDead(KEYS[1], member) then break end
  forgetDead(KEYS[1], member)
end
return redis.call('ZCARD', KEYS[2])
`,
)

/**
 * The typed caller of the script above; of a type, or of all.
 *
 * @example
 * await countDeadLetters(connection, keys('svc/'), 'mail') // 3
 */
export const countDeadLetters = async (connection: Connection, keys: Keys, type: string | undefined): Promise<number> =>
  Number(await runScript(connection, script, [keys.root, keys.deadLetters(type)], []))
