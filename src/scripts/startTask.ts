import type { StartResult, StartTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { decodeRow } from '../rows/rowCodec.js'
import { textFields } from '../rows/textFields.js'
import { blobsOfLua } from './blobsLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Makes a draft pending, due now or later, replaces its payload if one is given, and puts it into its lane or the schedule.
 *
 * KEYS: 1 root, 2 the row. ARGV: group, task id, entry ('1': make one; '': mark the row as not yet enqueued), payload
 * mode ('': keep, 'set', 'drop'), the payload's fields and values.
 * Returns: now, 1 (started) or 0 (refused), the row (empty if there is none), its events and children.
 */
const script = defineScript(
  'startTask',
  clockLua +
    bellLua +
    enqueueLua +
    blobsOfLua +
    `
local root, row = KEYS[1], KEYS[2]
local group, taskId, withEntry, mode = unpack(ARGV, 1, 4)
local function answer(started)
  local fields = redis.call('HGETALL', row)
  return { now, started, fields, redis.call('LRANGE', row .. ':events', 0, -1),
    redis.call('LRANGE', row .. ':children', 0, -1), blobsOf(row, fields) }
end
if redis.call('HGET', row, 's') ~= 'draft' then return answer(0) end

if mode ~= '' then
  -- Parts of a longer payload must not outlive it; there are never as many as this.
  local old = { 'p' }
  for part = 1, 20 do old[part + 1] = 'p' .. part end
  redis.call('HDEL', row, unpack(old))
end
if mode == 'set' then redis.call('HSET', row, unpack(ARGV, 5)) end

local kind, version, notBefore, lane, member, startBefore = unpack(redis.call('HMGET', row, 't', 'v', 'n', 'ln', 'm', 'sb'))
local isDue = tonumber(notBefore or 0) <= now
redis.call('HSET', row, 's', 'pending', 'n', isDue and nowText or notBefore)
if startBefore then redis.call('ZADD', root .. 'deadlines', startBefore, taskId) end
redis.call('HDEL', row, 'ln', 'm')
if withEntry == '' then
  redis.call('ZADD', root .. 'unqueued', nowText, taskId)
elseif isDue then
  enqueue(root, group, lane, taskId, kind, version)
else
  redis.call('HSET', row, 'm', park(root, member, tonumber(notBefore)))
end
return answer(1)
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await startTask(connection, keys('svc/'), 'runner', { taskId: 'a', payload: { json: '{}' } }, true)
 */
export const startTask = async (
  connection: Connection,
  keys: Keys,
  group: string,
  { taskId, payload }: StartTask,
  withEntry: boolean,
): Promise<StartResult> => {
  const mode = payload === undefined ? '' : payload.json === undefined ? 'drop' : 'set'
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.row(taskId)],
    [group, taskId, withEntry ? '1' : '', mode, ...(payload?.json === undefined ? [] : textFields('p', payload.json))],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, started, row, events, children, blobs] = reply as [number, number, string[], string[], string[], string[]]
  if (row.length === 0) return { kind: 'refused' }
  const stored = decodeRow(taskId, row, { events, children, blobs })
  return started === 1 ? { kind: 'started', stored, at } : { kind: 'refused', stored }
}
