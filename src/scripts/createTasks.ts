import { DEFAULT_KEY_TTL_MS, type CreateResult, type CreateTask, type TaskStatus } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import { checkRowId, isRowId, type Keys } from '../keys/keys.js'
import { type Lane, lane } from '../keys/lane.js'
import { blobField, blobText, encodeStore } from '../rows/blobText.js'
import { decodeRow, rowFieldsOf } from '../rows/rowCodec.js'
import { addChildLua } from './addChildLua.js'
import { blobsLua, blobsOfLua } from './blobsLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { heldKeyLua } from './heldKeyLua.js'
import { pagesOf } from './pagesOf.js'
import { parkedMember } from './parkedMember.js'
import { payloadBytesOf } from './payloadBytesOf.js'
import { defineScript, runScript } from './runScript.js'

/**
 * The largest list that is created all or nothing, by tasks and by bytes of their payloads: what one call of the script may
 * keep the server busy with.
 */
const PAGE = { items: 500, bytes: 16 * 1_048_576, bytesOf: payloadBytesOf }

/**
 * Creates rows, and in the same step takes their idempotency keys and puts the tasks into their lanes or the schedule,
 * so that no crash can come between them. Everything that could be refused is looked at before anything is written.
 *
 * An idempotency key belongs to a task while its lease lasts, and while the task is held because it is not over. A lease
 * whose row never came into being is taken over under its id. Without a key a row must not exist yet. With a
 * parent, the row takes its place among the parent's children; if one parent is missing or over, nothing is written.
 *
 * KEYS: 1 root, then for each task: the lane's stream, the idempotency lease (the stream again without a key).
 * ARGV: group, entries ('1': make them; '': mark the rows as not yet enqueued), then for each task: lane,
 * member of the schedule ('' where neither a time nor a draft needs it), task id, type, version, status, not before (epoch ms, 0 for now), parent ('' for none),
 * length of the lease in ms ('' for ever), whether the key may be taken from a task without success ('1' or ''), start
 * before (epoch ms, '' for no limit), JSON list of the blobs it consumes ('' for none: field, store and JSON of each),
 * number of the arguments that follow, the row's fields and values.
 * Returns: now, then for each task 'created', the id and the parent's type ('' for none), or 'exists', the id, the row,
 * its events, children and blobs;
 * or now, then only 'refused', the parent and its status ('' if there is none).
 */
const script = defineScript(
  'createTasks',
  clockLua +
    bellLua +
    enqueueLua +
    addChildLua +
    heldKeyLua +
    blobsLua +
    blobsOfLua +
    `
local root = KEYS[1]
local group, withEntry = unpack(ARGV, 1, 2)

local tasks, made, parents, streams, at = {}, {}, {}, {}, 3
for i = 1, (#KEYS - 1) / 2 do
  local stream, lease = KEYS[2 * i], KEYS[2 * i + 1]
  if not streams[stream] then
    local kept = redis.call('TYPE', stream).ok
    if kept ~= 'none' and kept ~= 'stream' then return redis.error_reply('WRONGTYPE ' .. stream .. ' is no stream') end
    streams[stream] = true
  end
  local taskId = ARGV[at + 2]
  if lease ~= stream then
    taskId = made[lease] or holderOf(root, lease, ARGV[at + 9] ~= '') or taskId
    -- Only what this call makes is remembered: whether the key may be taken from another is asked by each task for itself.
    if redis.call('EXISTS', root .. 'row:' .. taskId) == 0 then made[lease] = taskId end
  end
  local parent = ARGV[at + 7]
  if parent ~= '' and not parents[parent] and redis.call('EXISTS', root .. 'row:' .. taskId) == 0 then
    local status, kind = unpack(redis.call('HMGET', root .. 'row:' .. parent, 's', 't'))
    if not status or status == 'succeeded' or status == 'failed' or status == 'cancelled' or status == 'cancelling' then
      return { now, { 'refused', parent, status or '' } }
    end
    parents[parent] = kind
  end
  tasks[i] = { taskId, at }
  at = at + 13 + tonumber(ARGV[at + 12])
end

local replies = { now }
for i, task in ipairs(tasks) do
  local taskId, first = unpack(task)
  local row = root .. 'row:' .. taskId
  if redis.call('EXISTS', row) == 1 then
    local fields = redis.call('HGETALL', row)
    replies[i + 1] = { 'exists', taskId, fields, redis.call('LRANGE', row .. ':events', 0, -1),
      redis.call('LRANGE', row .. ':children', 0, -1), blobsOf(row, fields) }
  else
    local lane, member, givenId, kind, version, status, notBefore, parent, leaseMs, _, startBefore, blobs, count =
      unpack(ARGV, first, first + 12)
    if taskId ~= givenId and member ~= '' then
      -- No text within the id can look like this, as its quotation marks are escaped.
      local rest = string.find(member, ',"type":', 1, true)
      member = '{"taskId":' .. cjson.encode(taskId) .. string.sub(member, rest)
    end
    -- The entry comes first: should the server refuse in the midst of this, an entry without a row is noticed.
    local parked
    if status == 'pending' and withEntry ~= '' then
      if tonumber(notBefore) > now then
        parked = park(root, member, tonumber(notBefore))
      else
        enqueue(root, group, lane, taskId, kind, version)
      end
    end
    redis.call('HSET', row, 'c', nowText, unpack(ARGV, first + 13, first + 12 + count))
    if blobs ~= '' then
      local stores
      for _, blob in ipairs(cjson.decode(blobs)) do
        stores = recordBlob(root, row, taskId, stores, unpack(blob))
      end
    end
    if status == 'draft' then
      redis.call('HSET', row, 'm', member, 'ln', lane)
    elseif withEntry == '' then
      redis.call('ZADD', root .. 'unqueued', nowText, taskId)
    elseif parked then
      redis.call('HSET', row, 'm', parked)
    end
    if KEYS[2 * i + 1] ~= KEYS[2 * i] then holdKey(root, KEYS[2 * i + 1], taskId, leaseMs) end
    if startBefore ~= '' and status == 'pending' then redis.call('ZADD', root .. 'deadlines', startBefore, taskId) end
    if parent ~= '' then addChild(root, parent, taskId, kind) end
    replies[i + 1] = { 'created', taskId, parents[parent] or '' }
  end
end
return replies
`,
)

/**
 * The typed caller of the script above; answers in the order of the tasks. At most 500 tasks and 16 MiB of payloads a call of
 * the script (or a single task), and each call all or nothing. After a refusal nothing more is tried, and all that is left
 * is answered with it.
 *
 * @param withEntries whether the tasks are to be queued; without, they are marked as not yet enqueued
 *
 * @example
 * const [result] = await createTasks(connection, keys('svc/'), 'runner', [draft], true)
 */
export const createTasks = async (
  connection: Connection,
  keys: Keys,
  group: string,
  inputs: readonly CreateTask[],
  withEntries: boolean,
): Promise<CreateResult[]> => {
  for (const { id } of inputs) checkRowId(id)
  // No row can be there, but something else could.
  const orphan = inputs.find(({ parentTaskId }) => parentTaskId !== undefined && !isRowId(parentTaskId))
  if (orphan !== undefined) {
    return inputs.map(() => ({ kind: 'refused', parentTaskId: orphan.parentTaskId as string }))
  }
  const results: CreateResult[] = []
  // One call after the other: tasks are queued in their order, and what comes after a fault is left undone.
  for (const page of pagesOf(inputs, PAGE)) {
    const [scriptKeys, args] = wireOf(keys, page)
    const reply = await runScript(connection, script, scriptKeys, [group, withEntries ? '1' : '', ...args])
    const refusal = refusalIn(reply)
    if (refusal) return [...results, ...inputs.slice(results.length).map(() => refusal)]
    if (!Array.isArray(reply) || reply.length !== page.length + 1) throw new ScriptReplyError(script.name, reply)
    const at = reply[0] as number
    for (let row = 1; row < reply.length; row++) results.push(resultOf(reply[row] as WireResult, at))
  }
  return results
}

const resultOf = (wire: WireResult, at: number): CreateResult => {
  const taskId = wire[1]
  if (wire[0] === 'created') {
    const parentType = wire[2]
    return parentType === '' ? { kind: 'created', taskId, at } : { kind: 'created', taskId, at, parentType }
  }
  const [, , row, events, children, blobs] = wire
  return { kind: 'exists', stored: decodeRow(taskId, row, { events, children, blobs }) }
}

type WireResult =
  | [word: 'created', taskId: string, parentType: string, ...none: undefined[]]
  | [word: 'exists', taskId: string, row: string[], events: string[], children: string[], blobs: string[]]

const refusalIn = (reply: unknown): CreateResult | undefined => {
  const refused: unknown = Array.isArray(reply) ? reply[1] : undefined
  if (!Array.isArray(refused) || refused[0] !== 'refused') return undefined
  const [, parentTaskId, parentStatus] = refused as [word: string, parent: string, status: TaskStatus | '']
  return { kind: 'refused', parentTaskId, ...(parentStatus && { parentStatus }) }
}

const keyArgumentsOf = ({ keyTtlMs = DEFAULT_KEY_TTL_MS, resubmitAfterFailure = false }: CreateTask) => [
  keyTtlMs === Infinity ? '' : String(Math.ceil(keyTtlMs)),
  resubmitAfterFailure ? '1' : '',
]

const blobsOf = ({ consumedBlobs = [] }: CreateTask): string => {
  if (consumedBlobs.length === 0) return ''
  return JSON.stringify(
    consumedBlobs.map((blob) => [blobField({ use: 'consumed', blob }), encodeStore(blob.storeName), blobText(blob)]),
  )
}

const wireOf = (keys: Keys, inputs: readonly CreateTask[]): [keys: string[], args: string[]] => {
  const scriptKeys = [keys.root]
  const args: string[] = []
  let of: { readonly like: CreateTask; readonly to: Lane; readonly stream: string } | undefined
  for (const input of inputs) {
    const {
      id,
      type,
      handlerVersion,
      status,
      notBefore = 0,
      startBefore = '',
      idempotencyKey,
      parentTaskId = '',
    } = input
    // Most lists are of one type.
    if (!of || !isOfOneLane(of.like, input)) {
      const to = lane(type, handlerVersion, input.tags)
      of = { like: input, to, stream: keys.queue(to) }
    }
    const { to, stream } = of
    scriptKeys.push(stream, idempotencyKey === undefined ? stream : keys.idempotency(type, idempotencyKey))
    const fields = rowFieldsOf(input)
    const member = notBefore > 0 || status === 'draft' ? parkedMember(id, to) : ''
    args.push(to.name, member, id, type, String(handlerVersion), status, String(notBefore))
    args.push(
      parentTaskId,
      ...keyArgumentsOf(input),
      String(startBefore),
      blobsOf(input),
      String(fields.length),
      ...fields,
    )
  }
  return [scriptKeys, args]
}

const isOfOneLane = (one: CreateTask, other: CreateTask): boolean =>
  one.type === other.type && one.handlerVersion === other.handlerVersion && one.tags === other.tags
