import type { CancelResult, CancelTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { decodeRow } from '../rows/rowCodec.js'
import { attemptLua, cancelLua, clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Asks for the cancel of a task, and takes it out of the schedule if it is parked there.
 *
 * KEYS: 1 root, 2 the row, 3 the schedule. ARGV: task id, reason, event as JSON with "at":0 in front.
 * Returns: now, word (see the fragment), the row.
 */
const script = defineScript(
  'cancelTask',
  clockLua +
    attemptLua +
    cancelLua +
    `
local root, row, schedule = KEYS[1], KEYS[2], KEYS[3]
local word = cancel(row, ARGV[2], ARGV[3])
if word == 'cancelled' then
  local member = redis.call('HGET', row, 'm')
  if member then redis.call('ZREM', schedule, member) end
  redis.call('ZREM', root .. 'unqueued', ARGV[1])
  redis.call('ZREM', root .. 'leases', ARGV[1])
end
return { now, word, redis.call('HGETALL', row) }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await cancelTask(connection, keys('svc/'), { taskId: 'a', reason: 'no longer needed' })
 */
export const cancelTask = async (connection: Connection, keys: Keys, input: CancelTask): Promise<CancelResult> => {
  const { taskId, reason } = input
  const event = JSON.stringify({ at: 0, kind: 'cancellation-requested', ...(reason !== undefined && { reason }) })
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.row(taskId), keys.scheduler],
    [taskId, reason ?? '', event],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, row] = reply as [number, string, string[]]
  if (word === 'unknown') return { kind: 'unknown' }
  const stored = decodeRow(taskId, row)
  if (word === 'unchanged') return { kind: 'unchanged', stored }
  return { kind: word === 'cancelling' ? 'cancelling' : 'cancelled', stored, at }
}
