/**
 * Needs the clock, the attempts and the end of tasks. Ends attempt `run`, if it is still the row's present one. `kind` is
 * succeeded, failed, retry, cancelled, released, parked or suspended. For the first one the fields and values of the result
 * are the arguments from `text` to `err`; for the others `text` is the row's error as JSON ('' for none), or the awaited
 * children as JSON, or `unstarted` for an attempt that is given back before a handler had it, and `err` the attempt's error
 * as JSON. `lane` is the lane's name, `policy` as for endTask. A row that was told to cancel ends as cancelled, whatever
 * happened; one whose awaited children have all ended is pending, not waiting.
 *
 * Answers nil for a lost attempt (and the status), else: the new status; the due time of a pending row ('' for at once) or
 * the reason of a cancelled one; what tellParent answered for a row that is over; how many children are open; whether the
 * row is gone.
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

local function finishAttempt(root, group, taskId, run, worker, started, kind, text, err, delayMs, lane, policy)
  local row = root .. 'row:' .. taskId
  local head = headOf(row)
  local status, open = head[1], head[3] or '0'
  if head[2] ~= run or (status ~= 'running' and status ~= 'cancelling') then return nil, status end
  if status == 'cancelling' or kind == 'cancelled' then
    if kind == 'succeeded' then err = '' end
    local reason = redis.call('HGET', row, 'cr') or ''
    local parent, isGone = endTask(root, group, taskId, 'cancelled', true, policy, head,
      'a' .. run, attemptText(started, nowText, 'c', worker, err))
    return 'cancelled', reason, parent, open, isGone
  end
  if kind == 'succeeded' then
    local parent, isGone = endTask(root, group, taskId, 'succeeded', true, policy, head,
      'a' .. run, attemptText(started, '', 's', worker, ''), unpack(ARGV, text, err))
    return 'succeeded', '', parent, open, isGone
  end
  if kind == 'failed' then
    redis.call('HINCRBY', row, 'f', 1)
    local parent, isGone = endTask(root, group, taskId, 'failed', true, policy, head,
      'e', text, 'a' .. run, attemptText(started, nowText, 'f', worker, err))
    return 'failed', '', parent, open, isGone
  end
  local letter = 'r'
  if kind == 'released' and text == 'unstarted' then
    redis.call('HINCRBY', row, 'us', 1)
    local startBefore = redis.call('HGET', row, 'sb')
    if startBefore then redis.call('ZADD', root .. 'deadlines', startBefore, taskId) end
  end
  if kind == 'retry' then
    letter = 'f'
    redis.call('HINCRBY', row, 'f', 1)
  elseif kind == 'parked' or kind == 'suspended' then
    letter = 'u'
  end
  if kind == 'suspended' and awaitOpen(root, row, text) > 0 then
    redis.call('HDEL', row, 'n')
    redis.call('HSET', row, 's', 'waiting', 'w', text, 'ln', lane, 'a' .. run,
      attemptText(started, nowText, letter, worker, ''))
    return 'waiting', '', '', open
  end
  local due = ''
  if tonumber(delayMs) > 0 then
    due = int(now + delayMs)
    redis.call('HSET', row, 'n', due)
  else
    redis.call('HDEL', row, 'n')
  end
  redis.call('HSET', row, 's', 'pending', 'a' .. run, attemptText(started, nowText, letter, worker, err))
  return 'pending', due, '', open
end
`
