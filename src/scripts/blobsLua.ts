import { DEFAULT_KEEP_TEXT } from '../rows/keepText.js'

/** A row of which nothing is to be kept is there for a last look. */
const LAST_LOOK_MS = 60_000

const [, , DEFAULT_DUE_MS, DEFAULT_MODES] = DEFAULT_KEEP_TEXT.split('|')

/**
 * Needs the clock. The record of a task's blobs is the hash `row:<id>:blobs`, and the row's field `bl` is a JSON list of the
 * stores that they are in:
 *
 * | field | holds |
 * | --- | --- |
 * | `p\|<name>`, `c\|<name>` | a blob that the task produced, or consumed, see blobText |
 * | `.m` | once the task is over: 0 if its blobs are kept, 1 if what it produced is deleted, 2 if all of them are |
 * | `.t` | its type |
 * | `.s` | JSON list of the stores in which its blobs have yet to be dealt with |
 *
 * `blobusers:<name>` is a sorted set of the tasks that a blob was given to, by until when: infinity while they are open.
 * `blobgone:<name>` is there while a blob is being deleted. `blobs:<store>` is the index of what is due in a store.
 *
 * `recordBlob` puts a blob on the record, `dropBlob` takes it off. `markUse` says until when ('inf', or epoch ms; nil: no longer) a task uses what it
 * was given. `endBlobs` is called in the step that ends a task, `resumeBlobs` in the one that makes it run again, and
 * `forgetBlobs` in the one that removes its row: what has yet to be deleted stays on the record.
 */
export const blobsLua = `
local function keepUsers(users)
  redis.call('ZREMRANGEBYSCORE', users, '-inf', nowText)
  local last = redis.call('ZRANGE', users, -1, -1, 'WITHSCORES')[2]
  if last == 'inf' then
    redis.call('PERSIST', users)
  elseif last then
    redis.call('PEXPIRE', users, int(math.max(1, tonumber(last) - now)))
  end
end

local function markUse(root, blobs, taskId, score)
  for _, field in ipairs(redis.call('HKEYS', blobs)) do
    local name = string.match(field, '^c|(.*)$')
    if name then
      local users = root .. 'blobusers:' .. name
      if score then redis.call('ZADD', users, score, taskId) else redis.call('ZREM', users, taskId) end
      keepUsers(users)
    end
  end
end

local function dropBlob(root, blobs, taskId, field)
  redis.call('HDEL', blobs, field)
  local name = string.match(field, '^c|(.*)$')
  if name then
    redis.call('ZREM', root .. 'blobusers:' .. name, taskId)
    keepUsers(root .. 'blobusers:' .. name)
  end
end

local function recordBlob(root, row, taskId, stores, field, store, text)
  local blobs = row .. ':blobs'
  local place = string.match(redis.call('HGET', blobs, field) or '', '^(%d+)|') or int(redis.call('HLEN', blobs))
  redis.call('HSET', blobs, field, place .. '|' .. text)
  local name = string.match(field, '^c|(.*)$')
  if name then
    redis.call('ZADD', root .. 'blobusers:' .. name, 'inf', taskId)
    keepUsers(root .. 'blobusers:' .. name)
  end
  local list = stores and cjson.decode(stores) or {}
  for _, present in ipairs(list) do
    if present == store then return stores end
  end
  list[#list + 1] = store
  stores = cjson.encode(list)
  redis.call('HSET', row, 'bl', stores)
  return stores
end

local function endBlobs(root, row, taskId, kind, status, stores, times, kept, isLeaf, isGone)
  local blobs = row .. ':blobs'
  local due, onSuccess, onFailure =
    string.match(times or '|${String(DEFAULT_DUE_MS)}|${String(DEFAULT_MODES)}', '|(-?%d+)|(%d)(%d)$')
  local mode = status == 'succeeded' and onSuccess or onFailure
  due = tonumber(due)
  local deletes = mode ~= '0' and due >= 0
  if deletes or (due >= 0 and not isGone and (not kept or kept > due)) then
    redis.call('HSET', blobs, '.m', mode, '.t', kind, '.s', stores)
    for _, store in ipairs(cjson.decode(stores)) do
      redis.call('ZADD', root .. 'blobs:' .. store, int(now + due), taskId)
    end
  end
  if deletes then return end
  if isGone then
    markUse(root, blobs, taskId, nil)
    redis.call('UNLINK', blobs)
  elseif kept and isLeaf then
    local ms = kept > 0 and kept or ${String(LAST_LOOK_MS)}
    redis.call('PEXPIRE', blobs, int(ms))
    markUse(root, blobs, taskId, int(now + ms))
  end
end

local function resumeBlobs(root, row, taskId, stores)
  local blobs = row .. ':blobs'
  for _, store in ipairs(cjson.decode(stores)) do redis.call('ZREM', root .. 'blobs:' .. store, taskId) end
  redis.call('HDEL', blobs, '.m', '.t', '.s')
  -- In a store whose blobs have been deleted nothing is left to be dealt with.
  local left, isKnown = {}, {}
  for _, field in ipairs(redis.call('HKEYS', blobs)) do
    local store = string.match(field, '^%a|([^|]*)|')
    if not isKnown[store] then
      isKnown[store] = true
      left[#left + 1] = store
    end
  end
  if #left == 0 then return redis.call('HDEL', row, 'bl') end
  redis.call('HSET', row, 'bl', cjson.encode(left))
  redis.call('PERSIST', blobs)
  markUse(root, blobs, taskId, 'inf')
end

local function forgetBlobs(root, row, taskId)
  local mode = redis.call('HGET', row .. ':blobs', '.m')
  if mode == '1' or mode == '2' then return end
  markUse(root, row .. ':blobs', taskId, nil)
  redis.call('UNLINK', row .. ':blobs')
end
`

/**
 * Needs nothing. `blobsOf` reads the record of a row from its fields, as HGETALL lists them; rows without one cost no
 * command.
 */
export const blobsOfLua = `
local function blobsOf(row, flat)
  for i = 1, #flat, 2 do
    if flat[i] == 'bl' then return redis.call('HGETALL', row .. ':blobs') end
  end
  return {}
end
`
