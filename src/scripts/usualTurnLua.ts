import { DEFAULT_KEEP_TEXT } from '../rows/keepText.js'

const [DEFAULT_MS] = DEFAULT_KEEP_TEXT.split('|')

/**
 * A worker's turn as most of them are, written out: attempts that succeed of tasks that have neither parent nor child,
 * steps, key or blobs, and first runs of tasks that have nothing but a payload. It does the same as `finishAttempt` with `endTask`,
 * and as `beginAttempt`, which take over, attempt by attempt and entry by entry, whatever is not like that.
 *
 * It is written twice because defining the functions of all that could happen takes half of what the server spends on a turn
 * at one slot, and calling them another tenth (docs/performance.md). Nothing of them comes into being here unless `generally`
 * is called, and nothing of what takes entries off their streams unless `entries` is. That both do the same is held by
 * `test/integration/usualTurn.test.ts`. For the same reason the reply is one flat list, tables are made when there is something
 * to put into them, and numbers stay text: a table costs 750 instructions and as one of the reply 5,000, a number read from
 * text 2,400.
 *
 * Needs the clock, the claims, `entries`, which answers the fence and removeEntries, and `generally`, which answers all else.
 */
export const usualTurnLua = `
-- Room for one claim.
claims = { nowText, false, false, nil, nil, nil, nil }
local call, pcalled = redis.call, redis.pcall
local slotCount, laneCount = ARGV[4] == '1' and 1 or tonumber(ARGV[4]), #KEYS - 1
local at = 5 + slotCount + laneCount

local left
local plain, finished, answers = 0, nil, nil
local by, policy, times, kept
while ARGV[at] do
  local part, lane, capType, count, settled, batch = ARGV[at], ARGV[at + 1], '', nil, {}, nil
  if part == 'x' then
    count = ARGV[at + 2]
    at = at + 3
  elseif part == 'u' then
    by, policy, kept, count = worker, '', '${String(DEFAULT_MS)}', ARGV[at + 2]
    at = at + 3
  else
    capType, count = ARGV[at + 2], ARGV[at + 3]
    at = at + 4
    if part == 'b' then
      by, policy, times = ARGV[at], ARGV[at + 1], ARGV[at + 2]
      kept = policy == '' and '${String(DEFAULT_MS)}' or string.match(times, '^(-?%d+)|')
      at = at + 3
    end
  end
  -- What is left in a stream would be read again if its group were lost, and has to find its row then.
  local mayStay, isSettled = part ~= 'e', part == 'x'
  for _ = 1, count == '1' and 1 or count do
    if isSettled then
      settled[#settled + 1] = ARGV[at]
      at = at + 1
    elseif part == 'e' then
      local isOurs = entries().owns(root .. 'queue:' .. lane, group, ARGV[at], ARGV[at + 1], ARGV[at + 2])
      if isOurs then settled[#settled + 1] = ARGV[at + 1] end
      answers = answers or {}
      answers[#answers + 1] = isOurs and 1 or 0
      at = at + 3
    else
      local run, started, kind, from, to = '1', ARGV[at + 2], ARGV[at + 3], at + 3, at + 4
      local row, head, reply = root .. 'row:' .. ARGV[at], nil, nil
      if kind == 'r' then
        -- When it began there was nothing but a payload, and these are what may have come since.
        kind, head = 'succeeded', pcalled('HMGET', row, 's', 'run', 'oc', 'st', 'bl')
      else
        run, from, to = ARGV[at + 4], at + 6, at + 5 + ARGV[at + 5]
        head = kind == 'succeeded' and pcalled('HMGET', row, 's', 'run', 'oc', 'pa', 'kp', 'k', 'st', 'fg', 'bl')
      end
      if head and head[1] == 'running' and head[2] == run and
        not (head[3] or head[4] or head[5] or head[6] or head[7] or head[8] or head[9]) then
        if kept == '0' then
          reply = 2
          call('UNLINK', row)
        else
          local wrote = pcalled('HSET', row, 's', 'succeeded', 'x', nowText, 'a' .. run, started .. '||s|' .. by .. '|',
            unpack(ARGV, from, to))
          if type(wrote) == 'table' then
            reply = { 'error', wrote.err }
          else
            reply = 1
            if policy ~= '' then call('HSET', row, 'rp', policy, 'kp', times) end
            if kept ~= '-1' then call('PEXPIRE', row, kept) end
          end
        end
        if reply == 1 or reply == 2 then settled[#settled + 1] = ARGV[at + 1] end
      else
        batch = batch or { settled = settled, lane = lane, worker = by, policy = policy ~= '' and { policy, times } or nil }
        local ok, answer = pcall(generally().finishClaim, batch, ARGV[at], run, ARGV[at + 1], started, kind, from, to)
        reply = ok and answer or { 'error', type(answer) == 'table' and answer.err or tostring(answer) }
      end
      if reply == 1 and not finished then
        plain = plain + 1
      else
        if not finished then
          finished = {}
          for i = 1, plain do finished[i] = 1 end
        end
        finished[#finished + 1] = reply
      end
      if reply ~= 1 then mayStay = false end
      at = to + 1
    end
  end
  if #settled > 0 then
    local stream = root .. 'queue:' .. lane
    local acknowledged = isSettled and #settled or call('XACK', stream, group, unpack(settled))
    local n = left and #left
    if left and left[n - 3] == stream then
      local before = left[n - 2]
      for i = 1, #settled do before[#before + 1] = settled[i] end
      left[n - 1], left[n] = left[n - 1] + acknowledged, left[n] and mayStay
    elseif left then
      left[n + 1], left[n + 2], left[n + 3], left[n + 4] = stream, settled, acknowledged, mayStay
    else
      left = { stream, settled, acknowledged, mayStay }
    end
    if capType ~= '' then
      for _, entryId in ipairs(settled) do generally().release(root, capType, lane, entryId) end
    end
  end
end

local function read()
  if slotCount == 0 or laneCount == 0 then return end
  local isUsual = not hasCaps and call('EXISTS', root .. 'paused') == 0
  local open, cleared, first, wasRead, answered = laneCount, 0, 1, nil, nil
  local toldLane, toldConsumer, knownText, lease = 1, 1, nil, nil
  while isUsual and nextSlot <= slotCount and open > 0 and cleared < 100 do
    -- An entry that is read alone is looked for over all those in front of it in its node, read or not. So under load some of
    -- many lanes give several at once, and the next read begins behind them.
    local free = slotCount - nextSlot + 1
    local share = open == 1 and free or math.max(1, math.floor(free / open))
    local givers = isFlowing and math.min(open, math.ceil(free / 8))
    for lane = 1, laneCount do
      if isUsual and nextSlot <= slotCount and not (wasRead and wasRead[lane] == 'through') then
        free = slotCount - nextSlot + 1
        local consumer, count = nextSlot, share < free and share or free
        if givers then
          count = math.ceil(free / math.max(1, givers))
          givers = givers - 1
        end
        local reply = pcalled('XREADGROUP', 'GROUP', group, ARGV[4 + consumer], 'COUNT',
          count == slotCount and ARGV[4] or int(count), 'STREAMS', KEYS[lane + 1], '>')
        if reply and reply.err then
          isUsual, first = false, lane
        else
          local read = reply and reply[1][2]
          local found = read and #read or 0
          for i = 1, found do
            local entryId, fields = read[i][1], read[i][2]
            local taskId, isTaken = fields[2], false
            if fields[1] == 'taskId' and taskId ~= '' then
              local flat
              if joint then
                local row = root .. 'row:' .. taskId
                flat = pcalled('HGETALL', row)
                local size = #flat
                isTaken = size < 15 and flat[1] == 'c' and flat[3] == 't' and flat[5] == 'v' and flat[7] == 's' and
                  flat[8] == 'pending' and (size < 9 or flat[9] == 'p') and (size < 11 or flat[11] == 'p1') and
                  (size < 13 or flat[13] == 'p2')
                if isTaken then
                  local text = ARGV[4 + slotCount + lane]
                  if text ~= knownText then knownText, lease = text, '+' .. string.match(text, '^[^|]+') end
                  call('HSET', row, 's', 'running', 'd', lease, 'run', '1', 'a1', nowText .. '||i|' .. worker .. '|')
                end
              else
                isTaken = true
              end
              if isTaken then
                local n = #claims
                if lane ~= toldLane or consumer ~= toldConsumer then
                  claims[n + 1], claims[n + 2] = lane, consumer
                  n, toldLane, toldConsumer = n + 2, lane, consumer
                end
                claims[n + 1], claims[n + 2] = entryId, taskId
                if flat then
                  claims[n + 3] = flat[2]
                  claims[n + 4] = flat[12] and flat[10] .. flat[12] .. (flat[14] or '') or flat[10] or ''
                end
                nextSlot = nextSlot + 1
              end
            end
            if not isTaken and not generally().take(generally().lanes[lane], entryId, fields, 1, false, consumer) then
              cleared = cleared + 1
            end
          end
          if found == count then
            if tookToken or laneCount > 1 then
              wasRead = wasRead or {}
              wasRead[lane] = 'partly'
            end
          else
            wasRead = wasRead or {}
            wasRead[lane] = 'through'
            open = open - 1
            entries().removeSettled(KEYS[lane + 1])
            answered = answered or {}
            answered[#answered + 1] = root .. 'bell:' .. string.sub(KEYS[lane + 1], #root + 7)
          end
        end
      end
    end
  end
  if answered then call('DEL', unpack(answered)) end
  if not isUsual then
    for lane, how in pairs(wasRead or {}) do generally().lanes[lane].wasRead = how == 'partly' end
    return generally().readLanes(first)
  end
  if tookToken then
    for lane, how in pairs(wasRead or {}) do
      if how == 'partly' then generally().ring(root .. 'bell:' .. string.sub(KEYS[lane + 1], #root + 7)) end
    end
  end
end

local ok, full = pcall(read)
local failure = ''
if not ok then full, failure = {}, type(full) == 'table' and full.err or tostring(full) end
if left then
  local isBusy = slotCount > 0 and nextSlot > slotCount
  for i = 1, #left, 4 do
    local mayStay = left[i + 3]
    if not (isBusy and mayStay and isLoaded) then
      entries().removeEntries(left[i], left[i + 1], left[i + 2], isBusy and mayStay)
    end
  end
end
claims[2] = finished or plain
if failure ~= '' or (full and #full > 0) or #setAside > 0 or answers then
  claims[3] = { failure, full or {}, setAside, answers or {} }
end
return claims
`
