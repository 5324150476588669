/**
 * Needs the clock, the bell and the entries. `tellParent` is called in the step that ends a task: the parent's history
 * gets the event, its count of open children goes down, and if it waited for this child as its last one, it is pending,
 * due now, with an entry, or without a group marked as not yet enqueued. `state` and `kind` are
 * the status and type that the parent's row has, nil if there is none. Answers JSON of `taskId`, `type` and `woken`, or ''
 * if nobody has to be told.
 *
 * The parent's row and lane are derived from the root, as they are known only from the child's row.
 */
export const treeLua = `
local function wake(root, group, row, taskId, kind)
  local version, lane = unpack(redis.call('HMGET', row, 'v', 'ln'))
  redis.call('HDEL', row, 'w', 'ln')
  redis.call('HSET', row, 's', 'pending', 'n', nowText)
  if group == '' then
    redis.call('ZADD', root .. 'unqueued', nowText, taskId)
  else
    enqueue(root, group, lane, taskId, kind, version)
  end
end

local function tellParent(root, group, taskId, status, parent, state, kind)
  if not state then return '' end
  local row = root .. 'row:' .. parent
  redis.call('HINCRBY', row, 'oc', -1)
  if state == 'succeeded' or state == 'failed' or state == 'cancelled' then return '' end
  redis.call('RPUSH', row .. ':events', '{"at":' .. nowText .. ',"kind":"child-completed","childTaskId":' ..
    cjson.encode(taskId) .. ',"status":"' .. status .. '"}')
  redis.call('LTRIM', row .. ':events', -1000, -1)
  local open, woken = row .. ':open', false
  if state == 'waiting' and redis.call('SREM', open, taskId) == 1 and redis.call('EXISTS', open) == 0 then
    woken = true
    wake(root, group, row, parent, kind)
  end
  return cjson.encode({ taskId = parent, type = kind, woken = woken })
end
`
