import type { BeginAttempt, BeginResult } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { encodeWorkerId } from '../rows/attemptText.js'
import { decodeRow } from '../rows/rowCodec.js'
import { attemptLua, beginAttemptLua, bellLua, clockLua, enqueueLua } from './fragments.js'
import { endTaskLua } from './endTaskLua.js'
import { parentOf } from './parentOf.js'
import { limitText } from './limitText.js'
import { defineScript, runScript } from './runScript.js'
import { treeLua } from './treeLua.js'

/**
 * Begins an attempt for a claim that came by another transport; see the fragment for what it answers.
 *
 * KEYS: 1 root, 2 the row. ARGV: task id, worker, visibility in ms, redelivered ('1' or ''), limit of deliveries (0: none),
 * only if due ('1' or '').
 * Returns: now, word, detail, the row.
 */
const script = defineScript(
  'beginAttempt',
  clockLua +
    bellLua +
    enqueueLua +
    attemptLua +
    treeLua +
    endTaskLua +
    beginAttemptLua +
    `
local root, row = KEYS[1], KEYS[2]
local taskId, worker, visibilityMs, redelivered, maxDeliveries, onlyIfDue = unpack(ARGV)
local word, detail = beginAttempt(root, '', taskId, worker, tonumber(visibilityMs), redelivered == '1',
  tonumber(maxDeliveries), onlyIfDue == '1')
if word == 'begun' then
  redis.call('ZADD', root .. 'leases', int(now + visibilityMs), taskId)
  redis.call('ZREM', root .. 'unqueued', taskId)
elseif word == 'cancelled' or word == 'failed' then
  redis.call('ZREM', root .. 'leases', taskId)
  redis.call('ZREM', root .. 'unqueued', taskId)
end
return { now, word, detail, redis.call('HGETALL', row) }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await beginAttempt(connection, keys('svc/'), { taskId: 'a', workerId: 'w', visibilityTimeoutMs: 60_000, redelivered: false })
 */
export const beginAttempt = async (connection: Connection, keys: Keys, input: BeginAttempt): Promise<BeginResult> => {
  const { taskId, workerId, visibilityTimeoutMs, redelivered, maxDeliveries, onlyIfDue = false } = input
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.row(taskId)],
    [
      taskId,
      encodeWorkerId(workerId),
      String(visibilityTimeoutMs),
      redelivered ? '1' : '',
      limitText(maxDeliveries),
      onlyIfDue ? '1' : '',
    ],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, detail, row] = reply as [number, string, string, string[]]
  switch (word) {
    case 'begun':
      return { kind: 'begun', stored: decodeRow(taskId, row), attempt: Number(detail), at }
    case 'cancelled':
    case 'failed':
      return { kind: word, stored: decodeRow(taskId, row), at, ...parentOf(detail) }
    case 'missing':
      return { kind: 'refused', reason: 'missing' }
    case 'stale':
      return { kind: 'refused', reason: 'stale', status: decodeRow(taskId, row).task.status }
    case 'owned':
      return {
        kind: 'refused',
        reason: 'owned',
        status: decodeRow(taskId, row).task.status,
        leaseUntil: Number(detail),
      }
    case 'early':
      return {
        kind: 'refused',
        reason: 'early',
        status: decodeRow(taskId, row).task.status,
        dueAt: Number(detail),
      }
    default:
      throw new ScriptReplyError(script.name, reply)
  }
}
