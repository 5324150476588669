import type { ResendResult, TaskStatus } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import type { Lane } from '../keys/lane.js'
import { blobsLua } from './blobsLua.js'
import { deadLettersLua } from './deadLettersLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { heldKeyLua } from './heldKeyLua.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Makes a failed task pending again, due now and as if it had just been submitted, takes it out of the dead letters, and puts it into
 * its lane. What it has been through stays; nothing of it counts any more.
 *
 * KEYS: 1 root, 2 the row, 3 the lane's stream.
 * ARGV: group ('': mark the row as not yet enqueued), task id, lane, whether recorded steps are forgotten ('1' or '').
 * Returns: now, word (resent, missing, stale, parent, key), the row's status, the parent or the holder of the key, the
 * parent's status.
 */
const script = defineScript(
  'resendTask',
  clockLua +
    bellLua +
    enqueueLua +
    heldKeyLua +
    deadLettersLua +
    blobsLua +
    `
local root, row = KEYS[1], KEYS[2]
local group, taskId, lane, fromScratch = unpack(ARGV)
local head = redis.call('HMGET', row, 's', 't', 'v', 'run', 'pa', 'k', 'dr', 'f', 'bl')
local status, kind, version, run, parent, key, reason, failures, stores = unpack(head, 1, 9)
if not status then return { now, 'missing', '', '', '' } end
if status ~= 'failed' then return { now, 'stale', status, '', '' } end
if parent then
  local state = redis.call('HGET', root .. 'row:' .. parent, 's')
  if not state or state == 'succeeded' or state == 'failed' or state == 'cancelled' or state == 'cancelling' then
    return { now, 'parent', status, parent, state or '' }
  end
end
if key then
  local name = nameOfKey(kind, key)
  local holder = holderOf(root, root .. 'idem:' .. name, false)
  if holder and holder ~= taskId then return { now, 'key', status, holder, '' } end
  redis.call('HSET', root .. 'held', name, taskId)
end

unbury(root, deadLetterOf(reason), kind, taskId)
redis.call('HINCRBY', row, 'fg', int((tonumber(failures) or 0) + 1))
redis.call('HDEL', row, 'f', 'l', 'e', 'x', 'dr', 'sb', 'us', 'g', 'gx', 'm', 'bs')
redis.call('HSET', row, 's', 'pending', 'n', nowText)
if fromScratch == '1' then
  redis.call('UNLINK', row .. ':steps')
  redis.call('HDEL', row, 'st')
end
for _, part in ipairs({ '', ':events', ':children', ':steps' }) do redis.call('PERSIST', row .. part) end
redis.call('ZREM', root .. 'retention', taskId)
if stores then resumeBlobs(root, row, taskId, stores) end
redis.call('RPUSH', row .. ':events', '{"at":' .. nowText .. ',"kind":"resent","reason":"' .. (reason or 'failed') ..
  '","attempts":' .. (run or '0') .. '}')
redis.call('LTRIM', row .. ':events', -1000, -1)
if parent then redis.call('HINCRBY', root .. 'row:' .. parent, 'oc', 1) end
if group == '' then
  redis.call('ZADD', root .. 'unqueued', nowText, taskId)
else
  enqueue(root, group, lane, taskId, kind, version)
end
return { now, 'resent', 'pending', '', '' }
`,
)

/** What became of it; with `resent` when. */
export type ResendTaskResult =
  Exclude<ResendResult, { kind: 'resent' | 'cut' }> | { readonly kind: 'resent'; readonly at: number }

/**
 * The typed caller of the script above.
 *
 * @example
 * await resendTask(connection, keys('svc/'), 'runner', { taskId: 'a', lane: lane('mail', 1), fromScratch: false })
 */
export const resendTask = async (
  connection: Connection,
  keys: Keys,
  group: string,
  { taskId, lane, fromScratch }: { taskId: string; lane: Lane; fromScratch: boolean },
): Promise<ResendTaskResult> => {
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.row(taskId), keys.queue(lane)],
    [group, taskId, lane.name, fromScratch ? '1' : ''],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, status, other, otherStatus] = reply as [number, string, TaskStatus, string, TaskStatus | '']
  switch (word) {
    case 'resent':
      return { kind: 'resent', at }
    case 'stale':
      return { kind: 'stale', status }
    case 'parent':
      return { kind: 'parent', parentTaskId: other, ...(otherStatus && { status: otherStatus }) }
    case 'key':
      return { kind: 'key', holderId: other }
    case 'missing':
      return { kind: 'missing' }
    default:
      throw new ScriptReplyError(script.name, reply)
  }
}
