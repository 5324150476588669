/**
 * Needs the claims, the entries, and the end of attempts. Ends the attempt of a claim, which is fenced and answered by itself:
 * what makes Redis refuse one does not concern the others. Its entry is left to be settled with the others of the batch.
 *
 * ARGV from `first` to `last` are, for `succeeded`, the fields and values of the result; for the others text and error as
 * finishAttempt takes them, delay in ms, member of the schedule.
 *
 * Answers 1 (it succeeded, and there is nobody else to tell), 2 (the same, and the row is gone), or: status, due time or
 * reason, open children, what tellParent answered, '1' if the row is gone; for a lost one '' and the row's status; the caller
 * makes 'error' and the server's message of what is raised.
 */
export const finishClaimLua = `
local function kindAndVersion(lane)
  local kind, version = string.match(lane, '^(.+):v(%d+)$')
  if kind then return kind, version end
  return string.match(lane, '^(.+):v(%d+):tags=[^:]*$')
end

local function finishClaim(batch, taskId, run, entryId, started, kind, first, last)
  local text, err, delayMs, member = first, last, '0', ''
  if kind ~= 'succeeded' then text, err, delayMs, member = unpack(ARGV, first, last) end
  local status, detail, parent, open, isGone = finishAttempt(root, group, taskId, run, batch.worker, started, kind, text,
    err, delayMs, batch.lane, batch.policy)
  if not status then return { '', detail or '' } end
  if status == 'pending' then
    if detail == '' then
      enqueue(root, group, batch.lane, taskId, kindAndVersion(batch.lane))
    else
      redis.call('HSET', root .. 'row:' .. taskId, 'm', park(root, member, tonumber(detail)))
    end
  end
  batch.settled[#batch.settled + 1] = entryId
  if status == 'succeeded' and open == '0' and parent == '' then return isGone and 2 or 1 end
  return { status, detail, open, parent, isGone and '1' or '' }
end
`
