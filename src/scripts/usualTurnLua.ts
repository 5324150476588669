import { DEFAULT_KEEP_TEXT } from '../rows/keepText.js'

const [DEFAULT_MS] = DEFAULT_KEEP_TEXT.split('|')

/**
 * A worker's turn as most of them are, written out: attempts that succeed of tasks that have neither parent nor child,
 * steps, key or blobs, and first runs of tasks that have nothing but a payload. It does the same as `finishAttempt` with `endTask`,
 * and as `beginAttempt`, which take over, attempt by attempt and entry by entry, whatever is not like that.
 *
 * It is written twice because defining the functions of all that could happen takes half of what the server spends on a turn
 * at one slot, and calling them another tenth (docs/performance.md). Nothing of them comes into being here unless `generally`
 * is called. That both do the same is held by `test/integration/usualTurn.test.ts`.
 *
 * Needs the clock, the claims, the fence and removeEntries, and `define`, which answers the general functions.
 */
export const usualTurnLua = `
local known
local function generally()
  known = known or define()
  return known
end

local slotCount, laneCount = tonumber(ARGV[4]), #KEYS - 1
local at = 4 + slotCount + laneCount

local removals = {}
-- What is left in a stream would be read again if its group were lost, and has to find its row then.
local function settleTogether(lane, capType, settled, mayStay)
  if #settled == 0 then return end
  local stream = root .. 'queue:' .. lane
  removals[#removals + 1] = { stream, settled, redis.call('XACK', stream, group, unpack(settled)), mayStay }
  if capType ~= '' then
    for _, entryId in ipairs(settled) do generally().release(root, capType, lane, entryId) end
  end
end

local finished, batches = {}, tonumber(ARGV[at + 1])
at = at + 2
local by, policy, times, kept
for _ = 1, batches do
  local lane, capType, attempts, settled, batch = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), {}, nil
  local mayStay = true
  if ARGV[at + 3] == '' then
    at = at + 4
  else
    by, policy, times = ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]
    kept = policy == '' and '${String(DEFAULT_MS)}' or string.match(times, '^(-?%d+)|')
    at = at + 7
  end
  for _ = 1, attempts do
    local run, started, kind, count = ARGV[at + 1], ARGV[at + 3], ARGV[at + 4], tonumber(ARGV[at + 5])
    local row, reply = root .. 'row:' .. ARGV[at], nil
    local head = kind == 'succeeded' and redis.pcall('HMGET', row, 's', 'run', 'oc', 'pa', 'kp', 'k', 'st', 'fg', 'bl')
    if head and head[1] == 'running' and head[2] == run and
      not (head[3] or head[4] or head[5] or head[6] or head[7] or head[8] or head[9]) then
      if kept == '0' then
        reply = 2
        redis.call('UNLINK', row)
      else
        local wrote = redis.pcall('HSET', row, 's', 'succeeded', 'x', nowText, 'a' .. run, started .. '|' ..
          (started == nowText and '0' or int(now - started)) .. '|s|' .. by .. '|', unpack(ARGV, at + 6, at + 5 + count))
        if type(wrote) == 'table' then
          reply = { 'error', wrote.err }
        else
          reply = 1
          if policy ~= '' then redis.call('HSET', row, 'rp', policy, 'kp', times) end
          if kept ~= '-1' then redis.call('PEXPIRE', row, kept) end
        end
      end
      if reply == 1 or reply == 2 then settled[#settled + 1] = ARGV[at + 2] end
    else
      batch = batch or { settled = settled, lane = lane, worker = by, policy = policy ~= '' and { policy, times } or nil }
      local ok, answer = pcall(generally().finishClaim, batch, at, count)
      reply = ok and answer or { 'error', type(answer) == 'table' and answer.err or tostring(answer) }
    end
    finished[#finished + 1] = reply
    if reply ~= 1 then mayStay = false end
    at = at + 6 + count
  end
  settleTogether(lane, capType, settled, mayStay)
end

local answers, groups = {}, tonumber(ARGV[at])
at = at + 1
for _ = 1, groups do
  local lane, capType, count, settled = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), {}
  at = at + 3
  for _ = 1, count do
    local consumer, entryId, deliveries = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    local isOurs = owns(root .. 'queue:' .. lane, group, consumer, entryId, deliveries)
    if isOurs then settled[#settled + 1] = entryId end
    answers[#answers + 1] = isOurs and 1 or 0
    at = at + 3
  end
  settleTogether(lane, capType, settled)
end

-- By what is told of a lane, which is the same for many.
local deadlines = {}
local function takeUsual(lane, entryId, fields, consumer)
  if fields[1] ~= 'taskId' or fields[2] == '' then return false end
  local taskId = fields[2]
  if not joint then
    claims[#claims + 1] = { lane, nextSlot, consumer, entryId, 1, taskId, '' }
    nextSlot = nextSlot + 1
    return true
  end
  local row = root .. 'row:' .. taskId
  local flat = redis.pcall('HGETALL', row)
  local size = #flat
  if size > 14 or flat[1] ~= 'c' or flat[3] ~= 't' or flat[5] ~= 'v' or flat[8] ~= 'pending' or flat[7] ~= 's' or
    (size > 8 and flat[9] ~= 'p') or (size > 10 and flat[11] ~= 'p1') or (size > 12 and flat[13] ~= 'p2') then
    return false
  end
  local told = ARGV[4 + slotCount + lane]
  local deadline = deadlines[told]
  if not deadline then
    deadline = int(now + string.match(told, '^[^|]+'))
    deadlines[told] = deadline
  end
  redis.call('HSET', row, 's', 'running', 'd', deadline, 'run', '1', 'a1', nowText .. '||i|' .. worker .. '|')
  claims[#claims + 1] = { lane, nextSlot, consumer, entryId, 1, taskId, 'first',
    (flat[10] or '') .. (flat[12] or '') .. (flat[14] or ''), flat[2] }
  nextSlot = nextSlot + 1
  return true
end

local function read()
  if slotCount == 0 or laneCount == 0 then return {} end
  local isUsual = not string.find(ARGV[3], 'c', 1, true) and redis.call('EXISTS', root .. 'paused') == 0
  local open, wasRead, answered, cleared, first = laneCount, {}, {}, 0, 1
  while isUsual and nextSlot <= slotCount and open > 0 and cleared < 100 do
    -- An entry that is read alone is looked for over all those in front of it in its node, read or not. So under load some of
    -- many lanes give several at once, and the next read begins behind them.
    local free = slotCount - nextSlot + 1
    local share = math.max(1, math.floor(free / open))
    local givers = isFlowing and math.min(open, math.max(2, math.ceil(free / 8)))
    for lane = 1, laneCount do
      if isUsual and nextSlot <= slotCount and wasRead[lane] ~= 'through' then
        free = slotCount - nextSlot + 1
        local consumer, count = nextSlot, math.min(share, free)
        if givers then
          count = math.ceil(free / math.max(1, givers))
          givers = givers - 1
        end
        local reply = redis.pcall('XREADGROUP', 'GROUP', group, ARGV[4 + consumer], 'COUNT', int(count), 'STREAMS',
          KEYS[lane + 1], '>')
        if reply and reply.err then
          isUsual, first = false, lane
        else
          local entries = reply and reply[1] and reply[1][2] or {}
          for _, entry in ipairs(entries) do
            wasRead[lane] = 'partly'
            if not takeUsual(lane, entry[1], entry[2], consumer) and
              not generally().take(generally().lanes[lane], entry[1], entry[2], 1, false, consumer) then
              cleared = cleared + 1
            end
          end
          if #entries < count then
            wasRead[lane] = 'through'
            open = open - 1
            removeSettled(KEYS[lane + 1])
            answered[#answered + 1] = root .. 'bell:' .. string.sub(KEYS[lane + 1], #root + 7)
          end
        end
      end
    end
  end
  if not isUsual then
    for lane, how in pairs(wasRead) do generally().lanes[lane].wasRead = how == 'partly' end
    return generally().readLanes(first)
  end
  if #answered > 0 then redis.call('DEL', unpack(answered)) end
  if tookToken then
    for lane = 1, laneCount do
      if wasRead[lane] == 'partly' then generally().ring(root .. 'bell:' .. string.sub(KEYS[lane + 1], #root + 7)) end
    end
  end
  return {}
end

local ok, full = pcall(read)
local failure = ''
if not ok then full, failure = {}, type(full) == 'table' and full.err or tostring(full) end
local isBusy = slotCount > 0 and nextSlot > slotCount
for _, removal in ipairs(removals) do
  removeEntries(removal[1], removal[2], removal[3], isBusy and removal[4])
end
-- Each table of a reply is looked through for what it may stand for; half of a call's tables are empty.
local function some(list) return #list > 0 and list end
return { now, some(claims), some(full), failure, some(finished), some(setAside), some(answers) }
`
