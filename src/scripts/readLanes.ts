import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { ReadReply, ReadRequest } from '../port/lanePort.js'
import { claimArguments, type ClaimSetting, decodeClaims } from './claimWire.js'
import { endTaskLua } from './endTaskLua.js'
import { takeEntryLua } from './takeEntry.js'
import { treeLua } from './treeLua.js'
import { attemptLua, beginAttemptLua, bellLua, clockLua, enqueueLua, settleLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Reads new entries for free slots, at most one a slot, lanes taking turns in the order given; begins the attempt of
 * each in the same step where rows are joint, and takes the place under the fleet cap. A paused or full lane is not read.
 *
 * KEYS: 1 root, 2… the streams of the lanes.
 * ARGV: group, worker, joint ('1' or ''), number of slots, the slots' consumers, then for each lane: name, visibility in
 * ms, cap type ('' for none), cap, limit of deliveries (0: none).
 * Returns: now, claims (see takeEntry), positions of the lanes that are at their cap, size of the lane registry.
 * Cost: one read a claim and one a lane that turns out empty; at most 100 stale entries are cleared away a call.
 */
const script = defineScript(
  'readLanes',
  clockLua +
    bellLua +
    enqueueLua +
    settleLua +
    attemptLua +
    treeLua +
    endTaskLua +
    beginAttemptLua +
    takeEntryLua +
    `
local function readOne(lane)
  local reply = redis.pcall('XREADGROUP', 'GROUP', group, slots[nextSlot], 'COUNT', 1, 'STREAMS', lane.stream, '>')
  if reply and reply.err then
    if string.sub(reply.err, 1, 7) ~= 'NOGROUP' then error(reply.err) end
    redis.call('XGROUP', 'CREATE', lane.stream, group, '0', 'MKSTREAM')
    redis.call('SADD', root .. 'lanes', lane.name)
    reply = redis.call('XREADGROUP', 'GROUP', group, slots[nextSlot], 'COUNT', 1, 'STREAMS', lane.stream, '>')
  end
  return reply and reply[1] and reply[1][2][1]
end

local open, full, answered, cleared = {}, {}, {}, 0
for _, lane in ipairs(lanes) do
  if not isPaused(lane.name) then table.insert(open, lane) end
end

while nextSlot <= #slots and #open > 0 and cleared < 100 do
  local still = {}
  for _, lane in ipairs(open) do
    if nextSlot > #slots then
      table.insert(still, lane)
    elseif not hasPlace(lane) then
      table.insert(full, lane.index)
    else
      local entry = readOne(lane)
      if entry then
        lane.wasRead = true
        if not take(lane, entry[1], entry[2], 1, false) then cleared = cleared + 1 end
        table.insert(still, lane)
      else
        table.insert(answered, root .. 'bell:' .. lane.name)
      end
    end
  end
  open = still
end

-- A bell that rang for entries that are gone would wake an idle worker for nothing.
if #answered > 0 then redis.call('DEL', unpack(answered)) end

-- Another idle worker may have been waiting for the token that brought this one here.
for _, lane in ipairs(open) do
  if lane.wasRead then ring(root .. 'bell:' .. lane.name) end
end

return { now, claims, full, redis.call('SCARD', root .. 'lanes') }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const { claims } = await readLanes(connection, keys('svc/'), { group: 'runner', isJoint: false }, { ...request, slots: ['w-slot-0'] })
 */
export const readLanes = async (
  connection: Connection,
  keys: Keys,
  setting: ClaimSetting,
  request: ReadRequest,
): Promise<ReadReply> => {
  const reply = await runScript(connection, script, ...claimArguments(keys, setting, request))
  const { claims, rest } = decodeClaims(script.name, reply, request)
  const [full, knownLanes] = rest as [number[], number]
  return {
    claims,
    full: full.flatMap((position) => request.lanes[position - 1]?.lane ?? []),
    knownLanes,
  }
}
