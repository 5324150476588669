import type { CreateResult, CreateTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { lane } from '../keys/lane.js'
import { decodeRow, rowFieldsOf } from '../rows/rowCodec.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { parkedMember } from './parkedMember.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Creates a row, and in the same step takes its idempotency lease and puts the task into its lane or the schedule, so
 * that no crash can come between them.
 *
 * A lease whose row never came into being is taken over under its id. Without a key the row must not exist yet.
 *
 * KEYS: 1 root, 2 the lane's stream, 3 the idempotency lease (if there is a key).
 * ARGV: group, lane, member of the schedule, entry ('1': make one; '': mark the row as not yet enqueued), lease seconds,
 * task id, type, version, status, not before (epoch ms, 0 for now), then the row's fields and values.
 * Returns: now, 'created', the id; or now, 'exists', the id, the row.
 */
const script = defineScript(
  'createTask',
  clockLua +
    bellLua +
    enqueueLua +
    `
local root = KEYS[1]
local group, lane, member, withEntry, leaseSec, taskId, kind, version, status, notBefore = unpack(ARGV, 1, 10)
if KEYS[3] then
  taskId = redis.call('GET', KEYS[3]) or taskId
end
local row = root .. 'row:' .. taskId
if redis.call('EXISTS', row) == 1 then return { now, 'exists', taskId, redis.call('HGETALL', row) } end
-- The entry comes first: should the server refuse in the midst of this, an entry without a row is noticed.
local parked
if status == 'pending' and withEntry ~= '' then
  if tonumber(notBefore) > now then
    if taskId ~= ARGV[6] then
      local from, to = string.find(member, ARGV[6], 1, true)
      member = string.sub(member, 1, from - 1) .. taskId .. string.sub(member, to + 1)
    end
    parked = park(root, member, tonumber(notBefore))
  else
    enqueue(root, group, lane, taskId, kind, version)
  end
end

redis.call('HSET', row, 'c', int(now), unpack(ARGV, 11))
if status == 'draft' then
  redis.call('HSET', row, 'm', member, 'ln', lane)
elseif withEntry == '' then
  redis.call('ZADD', root .. 'unqueued', int(now), taskId)
elseif parked then
  redis.call('HSET', row, 'm', parked)
end
if KEYS[3] then redis.call('SET', KEYS[3], taskId, 'EX', leaseSec) end
return { now, 'created', taskId }
`,
)

/**
 * The typed caller of the script above.
 *
 * @param leaseSec how long an idempotency key is held; with `undefined` neither lease nor entry are made
 *
 * @example
 * await createTask(connection, keys('svc/'), 'runner', input, 86_400)
 */
export const createTask = async (
  connection: Connection,
  keys: Keys,
  group: string,
  input: CreateTask,
  leaseSec?: number,
): Promise<CreateResult> => {
  const { id, type, handlerVersion, status, notBefore = 0, idempotencyKey } = input
  const to = lane(type, handlerVersion, input.tags)
  const isLeased = leaseSec !== undefined && idempotencyKey !== undefined
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.queue(to), ...(isLeased ? [keys.idempotency(type, idempotencyKey)] : [])],
    [
      group,
      to.name,
      parkedMember(id, to),
      leaseSec === undefined ? '' : '1',
      String(leaseSec ?? 0),
      id,
      type,
      String(handlerVersion),
      status,
      String(notBefore),
      ...rowFieldsOf(input),
    ],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, taskId, row] = reply as [number, string, string, string[]]
  return word === 'created' ? { kind: 'created', taskId, at } : { kind: 'exists', stored: decodeRow(taskId, row) }
}
