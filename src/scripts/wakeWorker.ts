import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { defineScript, runScript } from './runScript.js'

/** Long enough for a worker that waits, or is about to; of one that is gone nothing stays behind. */
const FORGOTTEN_MS = 60_000

/**
 * Rings the bell of a worker, unless it holds a token already.
 *
 * KEYS: 1 the bell. ARGV: after how many ms a token that nobody has heard goes. Returns: 1.
 */
const script = defineScript(
  'wakeWorker',
  `
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('LPUSH', KEYS[1], '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 1
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await wakeWorker(connection, keys('svc/'), 'w')
 */
export const wakeWorker = async (connection: Connection, keys: Keys, workerId: string): Promise<void> => {
  await runScript(connection, script, [keys.workerBell(workerId)], [String(FORGOTTEN_MS)])
}
