/**
 * Needs the clock, the attempts and the end of tasks. Ends attempt `run`, if it is still the row's present one. `kind` is
 * succeeded, failed, retry, cancelled, released, parked or suspended; `text` is the result or the row's error as JSON (''
 * for none), or the awaited children as JSON; `err` is the attempt's error as JSON, `lane` the lane's name. A row that was
 * told to cancel ends as cancelled, whatever happened; one whose awaited children have all ended is pending, not
 * waiting. Answers nil for a lost attempt (and the status), else the new status, and the due time of a pending row (''
 * for at once) or the reason of a cancelled one, and what tellParent answered for a row that is over.
 */
export const finishAttemptLua = `
local function awaitOpen(root, row, awaiting)
  local open, count = row .. ':open', 0
  redis.call('DEL', open)
  for _, childId in ipairs(cjson.decode(awaiting)) do
    local status = redis.call('HGET', root .. 'row:' .. childId, 's')
    if status and status ~= 'succeeded' and status ~= 'failed' and status ~= 'cancelled' then
      redis.call('SADD', open, childId)
      count = count + 1
    end
  end
  return count
end

local function finishAttempt(root, group, taskId, run, worker, started, kind, text, err, delayMs, lane)
  local row = root .. 'row:' .. taskId
  local head = redis.call('HMGET', row, 's', 'run')
  local status = head[1]
  if head[2] ~= run or (status ~= 'running' and status ~= 'cancelling') then return nil, status end
  local stamp = int(now)
  if status == 'cancelling' or kind == 'cancelled' then
    local parent = endTask(root, group, taskId, 'cancelled', 'a' .. run, attemptText(started, stamp, 'c', worker, err))
    return 'cancelled', redis.call('HGET', row, 'cr') or '', parent
  end
  if kind == 'succeeded' then
    local closed = attemptText(started, stamp, 's', worker, '')
    if text == '' then return 'succeeded', '', endTask(root, group, taskId, 'succeeded', 'a' .. run, closed) end
    return 'succeeded', '', endTask(root, group, taskId, 'succeeded', 'r', text, 'a' .. run, closed)
  end
  if kind == 'failed' then
    redis.call('HINCRBY', row, 'f', 1)
    return 'failed', '', endTask(root, group, taskId, 'failed', 'e', text,
      'a' .. run, attemptText(started, stamp, 'f', worker, err))
  end
  local letter = 'r'
  if kind == 'retry' then
    letter = 'f'
    redis.call('HINCRBY', row, 'f', 1)
  elseif kind == 'parked' or kind == 'suspended' then
    letter = 'u'
  end
  if kind == 'suspended' and awaitOpen(root, row, text) > 0 then
    redis.call('HDEL', row, 'n')
    redis.call('HSET', row, 's', 'waiting', 'w', text, 'ln', lane, 'a' .. run,
      attemptText(started, stamp, letter, worker, ''))
    return 'waiting', '', ''
  end
  local due = ''
  if tonumber(delayMs) > 0 then
    due = int(now + delayMs)
    redis.call('HSET', row, 'n', due)
  else
    redis.call('HDEL', row, 'n')
  end
  redis.call('HSET', row, 's', 'pending', 'a' .. run, attemptText(started, stamp, letter, worker, err))
  return 'pending', due, ''
end
`
