/**
 * Takes entries that were settled off their stream, and nothing else that is not over.
 *
 * `removeEntries(stream, settled, acknowledged, isBusy)`: the ids, how many of them XACK has found, and whether this call has
 * read all that it asked for. An entry that is deleted by its id is looked for from the front of its node, over those that are
 * deleted already, and the stream then looks for its new first one in the same way: a sixth of what the server spends on a task
 * at one slot, and an eighth at 50. But what lies in front of all that is pending is over, and one walk takes all of it away;
 * in a busy lane only its whole nodes go, which takes no walk at all, and less than a node of settled entries stays in front.
 * Where others are still at work on older entries each is deleted by its id. Because even to look costs a tenth of a task at one
 * slot, a worker under load lets up to 64 of those that it has settled wait for it (see Turns).
 *
 * What is pending has been read in its order, so nothing in front of it is still to be read. Where nothing is pending, a group
 * that was made anew may not have read all that lies there, which shows in XACK finding less than it was given.
 *
 * `removeSettled(stream)`: all that was left there, once a read has found nothing more: what is not pending is over, but for
 * what lies behind the first that is pending.
 *
 * Needs `int` of the clock, and the group.
 */
export const removeEntriesLua = `
local function timeOf(id)
  local ms, sequence = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(sequence)
end

local function isBehind(id, other)
  -- Times have 13 digits until the year 2286: then the texts tell, and nothing has to be taken apart.
  if #id == #other and string.byte(id, 14) == 45 and string.byte(other, 14) == 45 then return id > other end
  local ms, sequence = timeOf(id)
  local otherMs, otherSequence = timeOf(other)
  return ms > otherMs or (ms == otherMs and sequence > otherSequence)
end

local function firstPending(stream)
  local pending = redis.call('XPENDING', stream, group, '-', '+', '1')[1]
  return pending and pending[1]
end

local isEmpty = {}
local function removeEntries(stream, settled, acknowledged, isBusy)
  if isEmpty[stream] then return end
  if acknowledged > 0 and (isBusy or #settled > 2) then
    local last = settled[1]
    for i = 2, #settled do
      if isBehind(settled[i], last) then last = settled[i] end
    end
    local pending = firstPending(stream)
    if pending then
      if isBehind(pending, last) then return redis.call('XTRIM', stream, 'MINID', isBusy and '~' or '=', pending) end
    elseif acknowledged == #settled then
      local ms, sequence = timeOf(last)
      -- Beyond 2^53 numbers are not exact.
      if sequence < 9007199254740991 then
        return redis.call('XTRIM', stream, 'MINID', isBusy and '~' or '=', int(ms) .. '-' .. int(sequence + 1))
      end
    end
  end
  redis.call('XDEL', stream, unpack(settled))
end

local function removeSettled(stream)
  local hasEntries = redis.call('XLEN', stream) > 0
  local pending = hasEntries and firstPending(stream)
  if pending then return redis.call('XTRIM', stream, 'MINID', pending) end
  if hasEntries then redis.call('XTRIM', stream, 'MAXLEN', '0') end
  isEmpty[stream] = true
end
`
