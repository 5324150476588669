/** What the two scripts that claim are told, and what they answer. */
export const claimsLua = `
local root, group, worker = KEYS[1], ARGV[1], ARGV[2]
local flags, joint, tookToken, isFlowing, isLoaded, hasCaps = ARGV[3], true, nil, nil, nil, nil
if flags ~= 'j' then
  joint, tookToken = string.find(flags, 'j', 1, true), string.find(flags, 'b', 1, true)
  isFlowing, isLoaded = string.find(flags, 'f', 1, true), string.find(flags, 'l', 1, true)
  hasCaps = string.find(flags, 'c', 1, true)
end
local claims, setAside, nextSlot = {}, {}, 1
`

/**
 * Needs the claims. What the two scripts that claim have in common: reading their arguments, the pause flags, the places under a cap, and
 * taking one entry for the next free slot.
 *
 * A claim is returned as: position of the lane, position of the slot, position of the slot whose consumer owns it, entry id, deliveries, task id, word of beginAttempt
 * ('' where rows are not joint, which ends it), what it answered with it, row as a flat list of fields and values. The word
 * of a task that runs for the first time is 'first', and what follows is its payload, when it was submitted, not before,
 * failures, and whether there are steps; what is missing at the end is 0 or empty.
 *
 * An entry without a task id, or with something else where its row should be, is set aside; one whose row is stale is
 * settled, and one whose task somebody runs is parked until the lease ends: none of them takes a slot.
 */
export const takeEntryLua = `
local slots, lanes = {}, {}
local at = 4 + tonumber(ARGV[4])
for i = 5, at do slots[i - 4] = ARGV[i] end
for i = 2, #KEYS do
  at = at + 1
  local visibilityMs, maxDeliveries, cap, capType = string.match(ARGV[at], '^([^|]*)|([^|]*)|([^|]*)|(.*)$')
  lanes[i - 1] = { index = i - 1, stream = KEYS[i], name = string.sub(KEYS[i], #root + 7),
    visibilityMs = tonumber(visibilityMs), maxDeliveries = tonumber(maxDeliveries), cap = tonumber(cap), capType = capType }
end

local paused = {}
for _, name in ipairs(redis.call('SMEMBERS', root .. 'paused')) do paused[name] = true end
local function isPaused(name) return paused['*'] or paused[name] end

local function hasPlace(lane)
  if lane.capType == '' then return true end
  local holders = root .. 'cap:' .. lane.capType
  redis.call('ZREMRANGEBYSCORE', holders, '-inf', now)
  return redis.call('ZCARD', holders) < lane.cap
end

local function field(fields, name)
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
end

local function takeAway(letter, lane, entryId, fields)
  local id = buryEntry(root, letter, lane.name, entryId, fields or {})
  settle(root, group, lane.name, entryId, lane.capType)
  setAside[#setAside + 1] = { lane.index, id, letter }
end

-- A second entry of a task that somebody runs, or that is not due. It may be all that is left if that worker dies, so it
-- comes back when the lease ends, or then; the cap place is the first entry's.
local function parkUntil(due, lane, entryId, taskId, fields)
  local member = '{"taskId":' .. cjson.encode(taskId) .. ',"type":' .. cjson.encode(field(fields, 'type') or '') ..
    ',"handlerVersion":' .. (field(fields, 'handlerVersion') or '0') ..
    (string.find(lane.name, ':tags=[^:]*$') and ',"lane":' .. cjson.encode(lane.name) or '') .. '}'
  park(root, member, tonumber(due))
  redis.call('XACK', lane.stream, group, entryId)
  redis.call('XDEL', lane.stream, entryId)
end

local function payloadOf(fields)
  local payload, part = fields.p or '', 1
  while fields['p' .. part] do
    payload = payload .. fields['p' .. part]
    part = part + 1
  end
  return payload
end

local function take(lane, entryId, fields, deliveries, redelivered, consumer)
  local taskId = fields and field(fields, 'taskId')
  if not taskId or taskId == '' then
    takeAway('u', lane, entryId, fields)
    return false
  end
  local claim = { lane.index, nextSlot, consumer, entryId, deliveries, taskId, '' }
  if joint then
    local isFine, word, detail, before = pcall(beginAttempt, root, group, taskId, worker, lane.visibilityMs, redelivered,
      lane.maxDeliveries, true)
    if not isFine then
      -- Where its row should be lies something else, which must not hold up the lane.
      if not string.find(word.err or word, 'WRONGTYPE', 1, true) then error(word, 0) end
      takeAway('u', lane, entryId, fields)
      return false
    end
    if word == 'stale' then
      settle(root, group, lane.name, entryId, lane.capType)
      return false
    end
    if word == 'owned' or word == 'early' then
      parkUntil(detail, lane, entryId, taskId, fields)
      return false
    end
    -- The first run of a task that was sent again has more to know.
    if word == 'begun' and detail == '1' and not before.fg then
      claim[7], claim[8], claim[9] = 'first', payloadOf(before), before.c or '0'
      claim[10], claim[11], claim[12] = before.n or '', before.f or '0', before.st or ''
    else
      claim[7], claim[8] = word, detail
      if word ~= 'missing' then claim[9] = redis.call('HGETALL', root .. 'row:' .. taskId) end
    end
  end
  if lane.capType ~= '' then
    redis.call('ZADD', root .. 'cap:' .. lane.capType, int(now + lane.visibilityMs), lane.name .. ' ' .. entryId)
  end
  claims[#claims + 1] = claim
  nextSlot = nextSlot + 1
  return true
end
`
