import type { CancelResult, CancelTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { decodeRow } from '../rows/rowCodec.js'
import { endTaskLua } from './endTaskLua.js'
import { attemptLua, bellLua, clockLua, enqueueLua } from './fragments.js'
import { parentOf } from './parentOf.js'
import { defineScript, runScript } from './runScript.js'
import { treeLua } from './treeLua.js'

/**
 * Needs the clock and the attempts. Asks for a cancel: a row with a living owner becomes cancelling, any other is to be
 * ended by the caller. Logs the reason. Answers unknown, unchanged, cancelling or cancelled.
 */
const cancelLua = `
local function cancel(row, reason, event)
  local status, deadline, run = unpack(redis.call('HMGET', row, 's', 'd', 'run'))
  if not status then return 'unknown' end
  if status == 'cancelled' or status == 'succeeded' or status == 'failed' or status == 'cancelling' then
    return 'unchanged'
  end
  redis.call('RPUSH', row .. ':events', (string.gsub(event, '"at":0', '"at":' .. nowText, 1)))
  redis.call('LTRIM', row .. ':events', -1000, -1)
  if reason ~= '' then redis.call('HSET', row, 'cr', reason) end
  if status == 'running' then
    if leaseEnd(deadline, redis.call('HGET', row, 'a' .. run)) > now then
      redis.call('HSET', row, 's', 'cancelling')
      return 'cancelling'
    end
    loseAttempt(row, run)
  end
  if status == 'waiting' then
    redis.call('DEL', row .. ':open')
    redis.call('HDEL', row, 'w', 'ln')
  end
  return 'cancelled'
end
`

/**
 * Asks for the cancel of a task, and takes it out of the schedule if it is parked there. A cancelled one tells its parent.
 *
 * KEYS: 1 root, 2 the row, 3 the schedule.
 * ARGV: task id, reason, event as JSON with "at":0 in front, group ('': a woken parent is marked as not yet enqueued).
 * Returns: now, word (see the fragment), the row, ids of the children, what tellParent answered.
 */
const script = defineScript(
  'cancelTask',
  clockLua +
    bellLua +
    enqueueLua +
    attemptLua +
    treeLua +
    endTaskLua +
    cancelLua +
    `
local root, row, schedule = KEYS[1], KEYS[2], KEYS[3]
local word, parent = cancel(row, ARGV[2], ARGV[3]), ''
if word == 'cancelled' then
  local member = redis.call('HGET', row, 'm')
  if member then redis.call('ZREM', schedule, member) end
  redis.call('ZREM', root .. 'unqueued', ARGV[1])
  redis.call('ZREM', root .. 'leases', ARGV[1])
  redis.call('ZREM', root .. 'deadlines', ARGV[1])
  parent = endTask(root, ARGV[4], ARGV[1], 'cancelled', false, nil, nil)
end
return { now, word, redis.call('HGETALL', row), redis.call('LRANGE', row .. ':children', 0, -1), parent }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await cancelTask(connection, keys('svc/'), 'runner', { taskId: 'a', reason: 'no longer needed' })
 */
export const cancelTask = async (
  connection: Connection,
  keys: Keys,
  group: string,
  input: CancelTask,
): Promise<CancelResult> => {
  const { taskId, reason } = input
  const event = JSON.stringify({ at: 0, kind: 'cancellation-requested', ...(reason !== undefined && { reason }) })
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.row(taskId), keys.scheduler],
    [taskId, reason ?? '', event, group],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, row, children, parent] = reply as [number, string, string[], string[], string]
  if (word === 'unknown') return { kind: 'unknown' }
  const stored = decodeRow(taskId, row, { children })
  if (word === 'unchanged') return { kind: 'unchanged', stored }
  if (word === 'cancelling') return { kind: 'cancelling', stored, at }
  return { kind: 'cancelled', stored, at, ...parentOf(parent) }
}
