/**
 * Needs takeEntry, and `entries`, which answers removeEntries. Reads new entries for free slots, at most one a slot, lanes taking turns in the order
 * given, beginning with the `first`; begins the attempt of each in the same step where rows are joint, and takes the place under the fleet
 * cap. A paused or full lane is not read. At most 100 stale entries are cleared away a call. Answers the positions of the
 * lanes that are at their cap.
 */
export const readLanesLua = `
local function readOne(lane)
  local reply = redis.pcall('XREADGROUP', 'GROUP', group, slots[nextSlot], 'COUNT', '1', 'STREAMS', lane.stream, '>')
  if reply and reply.err then
    if string.sub(reply.err, 1, 7) ~= 'NOGROUP' then error(reply) end
    redis.call('XGROUP', 'CREATE', lane.stream, group, '0', 'MKSTREAM')
    redis.call('SADD', root .. 'lanes', lane.name)
    -- What was delivered before the group was lost is new again, and no bell has rung for it.
    tookToken, lane.wasMade = true, true
    reply = redis.call('XREADGROUP', 'GROUP', group, slots[nextSlot], 'COUNT', '1', 'STREAMS', lane.stream, '>')
  end
  return reply and reply[1] and reply[1][2][1]
end

local function readLanes(first)
  local open, full, answered, cleared = {}, {}, {}, 0
  for i = 1, #lanes do
    local lane = lanes[(first + i - 2) % #lanes + 1]
    if not isPaused(lane.name) then open[#open + 1] = lane end
  end

  while nextSlot <= #slots and #open > 0 and cleared < 100 do
    local asked, left = #open, 0
    for i = 1, asked do
      local lane, stays = open[i], true
      if nextSlot <= #slots then
        if hasPlace(lane) then
          local entry = readOne(lane)
          if entry then
            lane.wasRead = true
            if not take(lane, entry[1], entry[2], 1, false, nextSlot) then cleared = cleared + 1 end
          else
            stays = false
            entries().removeSettled(lane.stream)
            answered[#answered + 1] = root .. 'bell:' .. lane.name
          end
        else
          stays = false
          full[#full + 1] = lane.index
          -- Others may have a place in it.
          if lane.wasMade then ring(root .. 'bell:' .. lane.name) end
        end
      end
      if stays then
        left = left + 1
        open[left] = lane
      end
    end
    for i = left + 1, asked do open[i] = nil end
  end

  -- A bell that rang for entries that are gone would wake an idle worker for nothing.
  if #answered > 0 then redis.call('DEL', unpack(answered)) end

  -- Another idle worker may have been waiting for the token that brought this one here.
  if not tookToken then return full end
  for _, lane in ipairs(open) do
    if lane.wasRead then ring(root .. 'bell:' .. lane.name) end
  end
  return full
end
`
