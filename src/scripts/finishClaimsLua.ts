/**
 * Needs the clock, the bell, the entries, the settling and the end of attempts. Ends the attempts of claims, of which each
 * is fenced and answered by itself: what makes Redis refuse one does not concern the others. Their entries are settled
 * together, lane by lane, because an entry that is deleted alone costs as much as the rest of its task.
 *
 * Reads from ARGV[at + 1] on: number of batches, and for each: lane, type, version, cap type, worker, policy and its times
 * (see policyFields), number of attempts; for each attempt: task id, number, entry id, started, kind, number of arguments that follow. These are, for `succeeded`,
 * the fields and values of the result; for the others text and error as finishAttempt takes them, delay in ms, member of
 * the schedule.
 *
 * Answers for each attempt 1 (it succeeded, and there is nobody else to tell), 2 (the same, and the row is gone), or: status, due time or reason, open
 * children, what tellParent answered, '1' if the row is gone; for a lost one '' and the row's status; 'error' and the server's message.
 */
export const finishClaimsLua = `
local function finishClaim(batch, first, count)
  local taskId, run, entryId, started, kind = unpack(ARGV, first, first + 4)
  local text, err, delayMs, member = '', '', '0', ''
  if kind == 'succeeded' then
    text = { unpack(ARGV, first + 6, first + 5 + count) }
  else
    text, err, delayMs, member = unpack(ARGV, first + 6, first + 9)
  end
  local status, detail, parent, open, isGone = finishAttempt(root, group, taskId, run, batch.worker, started, kind, text,
    err, delayMs, batch.lane, batch.policy)
  if not status then return { '', detail or '' } end
  if status == 'pending' then
    if detail == '' then
      enqueue(root, group, batch.lane, taskId, batch.kind, batch.version)
    else
      redis.call('HSET', root .. 'row:' .. taskId, 'm', park(root, member, tonumber(detail)))
    end
  end
  batch.settled[#batch.settled + 1] = entryId
  if status == 'succeeded' and open == '0' and parent == '' then return isGone and 2 or 1 end
  return { status, detail, open, parent, isGone and '1' or '' }
end

local function finishClaims(at)
  local replies, batches = {}, tonumber(ARGV[at + 1])
  at = at + 2
  for _ = 1, batches do
    local batch = { settled = {}, lane = ARGV[at], kind = ARGV[at + 1], version = ARGV[at + 2], worker = ARGV[at + 4],
      policy = ARGV[at + 5] ~= '' and { ARGV[at + 5], ARGV[at + 6] } or nil }
    local capType, attempts = ARGV[at + 3], tonumber(ARGV[at + 7])
    at = at + 8
    for _ = 1, attempts do
      local count = tonumber(ARGV[at + 5])
      local ok, reply = pcall(finishClaim, batch, at, count)
      if not ok then reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) } end
      replies[#replies + 1] = reply
      at = at + 6 + count
    end
    if #batch.settled > 0 then settleAll(root, group, batch.lane, batch.settled, capType) end
  end
  return replies
end
`
