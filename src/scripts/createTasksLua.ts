import { addChildLua } from './addChildLua.js'
import { blobsLua, blobsOfLua } from './blobsLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { heldKeyLua } from './heldKeyLua.js'

/**
 * Creates rows, and in the same step takes their idempotency keys and puts the tasks into their lanes or the schedule,
 * so that no crash can come between them. Everything that could be refused is looked at before anything is written.
 *
 * An idempotency key belongs to a task while its lease lasts, and while the task is held because it is not over. A lease
 * whose row never came into being is taken over under its id. Without a key a row must not exist yet. With a
 * parent, the row takes its place among the parent's children; if one parent is missing or over, nothing is written.
 *
 * Most tasks go into their lane, and need nothing else: those that follow each other in one lane are a run, of which the
 * lane is told once, and functions for all the others come into being when one of these is met.
 *
 * KEYS: 1 root, then for each run the lane's stream, and for each other task the lane's stream and the idempotency lease (the
 * stream again without a key).
 * ARGV: group, entries ('1': make them; 'a': make them, and nothing at all where a key belongs to a row with another text as its
 * payload; 'l': only look for what would refuse the tasks, and write nothing; '': mark the rows as not yet enqueued), number of runs and other tasks, then for each:
 * number of tasks in the run, lane, type, version, and for each task: id, number of the arguments that follow, the row's fields
 * and values without those that follow from the run;
 * or '0', lane, member of the schedule ('' where neither a time nor a draft needs it), task id, type, version, status, not before (epoch ms, 0 for now), parent ('' for none),
 * length of the lease in ms ('' for ever), whether the key may be taken from a task without success ('1' or ''), start
 * before (epoch ms, '' for no limit), JSON list of the blobs it consumes ('' for none: field, store and JSON of each),
 * number of the arguments that follow, the row's fields and values.
 * Returns: now, then for each task 1 for a row under the id given, 'created', the id and the parent's type ('' for none),
 * or 'exists', the id, the row, its events, children and blobs; now alone if all rows are there under the ids given;
 * or now, then only 'refused', the parent and its status ('' if there is none);
 * or now and 'free', if it was only to look and nothing would refuse them;
 * or now, then only 'withheld', and for each key that belongs to another payload the position of its task (from 1) and what
 * 'exists'.
 */
export const createTasksLua =
  clockLua +
  `
local root = KEYS[1]
local group, withEntry, runs = ARGV[1], ARGV[2], tonumber(ARGV[3])

local function define()
` +
  bellLua +
  enqueueLua +
  addChildLua +
  heldKeyLua +
  blobsLua +
  blobsOfLua +
  `
local made, parents = {}, {}

local function look(stream, lease, first)
  local taskId, parent = ARGV[first + 2], ARGV[first + 7]
  if lease ~= stream then
    taskId = made[lease] or holderOf(root, lease, ARGV[first + 9] ~= '') or taskId
    -- Only what this call makes is remembered: whether the key may be taken from another is asked by each task for itself.
    if redis.call('EXISTS', root .. 'row:' .. taskId) == 0 then made[lease] = taskId end
  end
  if parent ~= '' and not parents[parent] and redis.call('EXISTS', root .. 'row:' .. taskId) == 0 then
    local status, kind = unpack(redis.call('HMGET', root .. 'row:' .. parent, 's', 't'))
    if not status or status == 'succeeded' or status == 'failed' or status == 'cancelled' or status == 'cancelling' then
      return taskId, { now, { 'refused', parent, status or '' } }
    end
    parents[parent] = kind
  end
  return taskId
end

local function existing(taskId)
  local row = root .. 'row:' .. taskId
  local fields = redis.call('HGETALL', row)
  return { 'exists', taskId, fields, redis.call('LRANGE', row .. ':events', 0, -1),
    redis.call('LRANGE', row .. ':children', 0, -1), blobsOf(row, fields) }
end

local function hasPayload(taskId, first)
  local given, part = {}, 0
  for i = first + 13, first + 12 + ARGV[first + 12], 2 do given[ARGV[i]] = ARGV[i + 1] end
  while true do
    local name = part == 0 and 'p' or 'p' .. string.format('%d', part)
    local kept = redis.call('HGET', root .. 'row:' .. taskId, name) or nil
    if kept ~= given[name] then return false end
    if not kept then return true end
    part = part + 1
  end
end

local function isTaken(stream, lease, taskId, first)
  if lease == stream or made[lease] or redis.call('EXISTS', root .. 'row:' .. taskId) == 0 then return false end
  return not hasPayload(taskId, first)
end

local function create(stream, lease, taskId, first)
  local row = root .. 'row:' .. taskId
  if redis.call('EXISTS', row) == 1 then return existing(taskId) end
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
  if lease ~= stream then holdKey(root, lease, taskId, leaseMs) end
  if startBefore ~= '' and status == 'pending' then redis.call('ZADD', root .. 'deadlines', startBefore, taskId) end
  if parent ~= '' then addChild(root, parent, taskId, kind) end
  return { 'created', taskId, parents[parent] or '' }
end

return { enqueue = enqueue, look = look, isTaken = isTaken, existing = existing, create = create }
end

local known
local function generally()
  known = known or define()
  return known
end

local function isWrong(stream)
  local kept = redis.call('TYPE', stream).ok
  return kept ~= 'none' and kept ~= 'stream'
end

local ids, at, key, position, withheld = {}, 4, 2, 0, nil
for i = 1, runs do
  local tasks, stream = tonumber(ARGV[at]), KEYS[key]
  -- A run that is alone is told of it by its first entry, before anything is written.
  if (runs > 1 or tasks == 0) and stream ~= KEYS[key - 1] and isWrong(stream) then
    return redis.error_reply('WRONGTYPE ' .. stream .. ' is no stream')
  end
  key = key + 1
  if tasks == 0 then
    local taskId, refusal = generally().look(stream, KEYS[key], at + 1)
    if refusal then return refusal end
    ids[i], position = taskId, position + 1
    if (withEntry == 'a' or withEntry == 'l') and generally().isTaken(stream, KEYS[key], taskId, at + 1) then
      withheld = withheld or { 'withheld' }
      withheld[#withheld + 1], withheld[#withheld + 2] = position, generally().existing(taskId)
    end
    key, at = key + 1, at + 14 + tonumber(ARGV[at + 13])
  elseif i < runs then
    position = position + tasks
    at = at + 4
    for _ = 1, tasks do at = at + 2 + tonumber(ARGV[at + 1]) end
  end
end

if withheld then return { now, withheld } end
if withEntry == 'l' then return { now, 'free' } end

local replies, asGiven, enter = { now }, true, redis.pcall
at, key = 4, 2
for i = 1, runs do
  local tasks, stream = tonumber(ARGV[at]), KEYS[key]
  if tasks == 0 then
    asGiven, enter = false, redis.call
    replies[#replies + 1] = generally().create(stream, KEYS[key + 1], ids[i], at + 1)
    key, at = key + 2, at + 14 + tonumber(ARGV[at + 13])
  else
    local lane, kind, version, hasRung = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], false
    key, at = key + 1, at + 4
    for _ = 1, tasks do
      local taskId, last = ARGV[at], at + 1 + tonumber(ARGV[at + 1])
      local row = root .. 'row:' .. taskId
      if redis.call('EXISTS', row) == 1 then
        asGiven = false
        replies[#replies + 1] = generally().existing(taskId)
      else
        local entry = enter('XADD', stream, 'NOMKSTREAM', '*', 'taskId', taskId, 'type', kind, 'handlerVersion', version)
        if not entry then
          generally().enqueue(root, group, lane, taskId, kind, version)
          hasRung = true
        elseif type(entry) == 'table' then
          return entry
        elseif not hasRung then
          local bell = root .. 'bell:' .. lane
          if redis.call('EXISTS', bell) == 0 then redis.call('LPUSH', bell, '1') end
          hasRung = true
        end
        enter = redis.call
        redis.call('HSET', row, 'c', nowText, 't', kind, 'v', version, 's', 'pending', unpack(ARGV, at + 2, last))
        replies[#replies + 1] = 1
      end
      at = last + 1
    end
  end
end
return asGiven and now or replies
`
