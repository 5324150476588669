import type { IdempotencyLeaseInput } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Takes the lease of an idempotency key, or answers who has it, in one step, so that it cannot run out in between.
 *
 * KEYS: 1 the lease. ARGV: task id, time to live in seconds. Returns: the winner's task id.
 */
const script = defineScript(
  'acquireLease',
  `
local holder = redis.call('GET', KEYS[1])
if holder then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await acquireLease(connection, keys('svc/'), 86_400, { type: 'mail', key: 'welcome-7', taskId: 'a' }) // 'a'
 */
export const acquireLease = async (
  connection: Connection,
  keys: Keys,
  ttlSec: number,
  { type, key, taskId }: IdempotencyLeaseInput,
): Promise<string> =>
  String(await runScript(connection, script, [keys.idempotency(type, key)], [taskId, String(ttlSec)]))
