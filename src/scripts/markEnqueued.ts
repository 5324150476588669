import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Takes the mark "not yet enqueued" off a row that has had exactly so many attempts: one that has begun another since its
 * entry was made may be pending again, and needs another entry.
 *
 * KEYS: 1 the row, 2 the index of rows not yet enqueued. ARGV: task id, attempts. Returns: 1 (taken off) or 0.
 */
const script = defineScript(
  'markEnqueued',
  `
if (redis.call('HGET', KEYS[1], 'run') or '0') ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await markEnqueued(connection, keys('svc/'), 'a', 0)
 */
export const markEnqueued = async (
  connection: Connection,
  keys: Keys,
  taskId: string,
  attempts: number,
): Promise<void> => {
  await runScript(connection, script, [keys.row(taskId), keys.unqueued], [taskId, String(attempts)])
}
