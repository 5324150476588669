/**
 * Which task an idempotency key belongs to. The lease of the key lasts for its time; a task that is not over keeps the
 * key beyond that, by its place in the hash of held keys. `letGoOfKey` is called in the step that ends a task, and
 * `heldMs` says for how long the lease is the task's after that, nil for ever.
 *
 * Names in that hash are those of the leases, without what all of them begin with; see keys.
 */
export const heldKeyLua = `
local function heldName(root, lease) return string.sub(lease, #root + 6) end

local function holderOf(root, lease, mayReplace)
  local taskId = redis.call('GET', lease) or redis.call('HGET', root .. 'held', heldName(root, lease))
  if not taskId then return nil end
  if mayReplace then
    local status = redis.call('HGET', root .. 'row:' .. taskId, 's')
    if status == 'failed' or status == 'cancelled' then return nil end
  end
  return taskId
end

local function holdKey(root, lease, taskId, leaseMs)
  redis.call('HSET', root .. 'held', heldName(root, lease), taskId)
  if leaseMs == '' then
    redis.call('SET', lease, taskId)
  elseif tonumber(leaseMs) > 0 then
    redis.call('SET', lease, taskId, 'PX', leaseMs)
  else
    redis.call('DEL', lease)
  end
end

local function nameOfKey(kind, key)
  return string.gsub(string.gsub(kind, '%%', '%%25'), ':', '%%3A') .. ':' .. key
end

local function letGoOfKey(root, kind, key, taskId)
  local name = nameOfKey(kind, key)
  if redis.call('HGET', root .. 'held', name) == taskId then redis.call('HDEL', root .. 'held', name) end
end

local function heldMs(root, kind, key, taskId)
  local lease = root .. 'idem:' .. nameOfKey(kind, key)
  if redis.call('GET', lease) ~= taskId then return 0 end
  local ms = redis.call('PTTL', lease)
  return ms >= 0 and ms or nil
end
`
