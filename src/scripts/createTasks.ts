import type { CreateResult, CreateTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { lane } from '../keys/lane.js'
import { decodeRow, rowFieldsOf } from '../rows/rowCodec.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { parkedMember } from './parkedMember.js'
import { defineScript, runScript } from './runScript.js'

/** What one call of the script may keep the server busy with. */
const MAX_TASKS = 500

/**
 * Creates rows, and in the same step takes their idempotency leases and puts the tasks into their lanes or the schedule,
 * so that no crash can come between them. Everything that could be refused is looked at before anything is written.
 *
 * A lease whose row never came into being is taken over under its id. Without a key a row must not exist yet.
 *
 * KEYS: 1 root, then for each task: the lane's stream, the idempotency lease (the stream again without a key).
 * ARGV: group, lease seconds, entries ('1': make them; '': mark the rows as not yet enqueued), then for each task: lane,
 * member of the schedule, task id, type, version, status, not before (epoch ms, 0 for now), number of the arguments that
 * follow, the row's fields and values.
 * Returns: now, then for each task 'created' and the id, or 'exists', the id and the row.
 */
const script = defineScript(
  'createTasks',
  clockLua +
    bellLua +
    enqueueLua +
    `
local root = KEYS[1]
local group, leaseSec, withEntry = unpack(ARGV, 1, 3)

local tasks, holders, at = {}, {}, 4
for i = 1, (#KEYS - 1) / 2 do
  local stream, lease = KEYS[2 * i], KEYS[2 * i + 1]
  local kept = redis.call('TYPE', stream).ok
  if kept ~= 'none' and kept ~= 'stream' then return redis.error_reply('WRONGTYPE ' .. stream .. ' is no stream') end
  local taskId = ARGV[at + 2]
  if lease ~= stream then
    taskId = holders[lease] or redis.call('GET', lease) or taskId
    holders[lease] = taskId
  end
  tasks[i] = { taskId, at }
  at = at + 8 + tonumber(ARGV[at + 7])
end

local replies = { now }
for i, task in ipairs(tasks) do
  local taskId, first = unpack(task)
  local row = root .. 'row:' .. taskId
  if redis.call('EXISTS', row) == 1 then
    replies[i + 1] = { 'exists', taskId, redis.call('HGETALL', row) }
  else
    local lane, member, givenId, kind, version, status, notBefore, count = unpack(ARGV, first, first + 7)
    -- The entry comes first: should the server refuse in the midst of this, an entry without a row is noticed.
    local parked
    if status == 'pending' and withEntry ~= '' then
      if tonumber(notBefore) > now then
        if taskId ~= givenId then
          local from, to = string.find(member, givenId, 1, true)
          member = string.sub(member, 1, from - 1) .. taskId .. string.sub(member, to + 1)
        end
        parked = park(root, member, tonumber(notBefore))
      else
        enqueue(root, group, lane, taskId, kind, version)
      end
    end
    redis.call('HSET', row, 'c', int(now), unpack(ARGV, first + 8, first + 7 + count))
    if status == 'draft' then
      redis.call('HSET', row, 'm', member, 'ln', lane)
    elseif withEntry == '' then
      redis.call('ZADD', root .. 'unqueued', int(now), taskId)
    elseif parked then
      redis.call('HSET', row, 'm', parked)
    end
    if KEYS[2 * i + 1] ~= KEYS[2 * i] then redis.call('SET', KEYS[2 * i + 1], taskId, 'EX', leaseSec) end
    replies[i + 1] = { 'created', taskId }
  end
end
return replies
`,
)

/**
 * The typed caller of the script above; answers in the order of the tasks. At most 500 tasks a call of the script, and
 * each call all or nothing.
 *
 * @param leaseSec how long idempotency keys are held; with `undefined` neither leases nor entries are made
 *
 * @example
 * const [result] = await createTasks(connection, keys('svc/'), 'runner', [input], 86_400)
 */
export const createTasks = async (
  connection: Connection,
  keys: Keys,
  group: string,
  inputs: readonly CreateTask[],
  leaseSec?: number,
): Promise<CreateResult[]> => {
  const results: CreateResult[] = []
  // One call after the other: tasks are queued in their order, and what comes after a fault is left undone.
  for (let from = 0; from < inputs.length; from += MAX_TASKS) {
    const page = inputs.slice(from, from + MAX_TASKS)
    const { scriptKeys, args } = wireOf(keys, page, leaseSec)
    const reply = await runScript(connection, script, scriptKeys, [group, ...args])
    if (!Array.isArray(reply) || reply.length !== page.length + 1) throw new ScriptReplyError(script.name, reply)
    const [at, ...rows] = reply as [number, ...Array<[string, string, string[]]>]
    for (const [word, taskId, row] of rows) {
      results.push(
        word === 'created' ? { kind: 'created', taskId, at } : { kind: 'exists', stored: decodeRow(taskId, row) },
      )
    }
  }
  return results
}

const wireOf = (keys: Keys, inputs: readonly CreateTask[], leaseSec: number | undefined) => {
  const scriptKeys = [keys.root]
  const args = [String(leaseSec ?? 0), leaseSec === undefined ? '' : '1']
  for (const input of inputs) {
    const { id, type, handlerVersion, status, notBefore = 0, idempotencyKey } = input
    const to = lane(type, handlerVersion, input.tags)
    const stream = keys.queue(to)
    const isLeased = leaseSec !== undefined && idempotencyKey !== undefined
    scriptKeys.push(stream, isLeased ? keys.idempotency(type, idempotencyKey) : stream)
    const fields = rowFieldsOf(input)
    args.push(to.name, parkedMember(id, to), id, type, String(handlerVersion), status, String(notBefore))
    args.push(String(fields.length), ...fields)
  }
  return { scriptKeys, args }
}
