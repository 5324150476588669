import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import type { SweepReply, SweepRequest } from '../port/lanePort.js'
import {
  claimArguments,
  claimOf,
  type ClaimSetting,
  setAsideOf,
  type WireClaim,
  type WireSetAside,
} from './claimWire.js'
import { attemptLua, beginAttemptLua, bellLua, clockLua, enqueueLua, settleLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'
import { endTaskLua } from './endTaskLua.js'
import { claimsLua, takeEntryLua } from './takeEntry.js'
import { treeLua } from './treeLua.js'

/**
 * Claims entries whose owner has let them idle for longer than the visibility, at most one a free slot, and tells when
 * the next one could become stale. What this worker works on is left alone, and so is what its busy slots have read: its handlers
 * run here, or its reply is on its way. What its free slots have besides is stale at once if a read of it was not answered.
 * The pending list is walked in pages of 100, at most ten a lane and call; the position is kept by the caller, so that a
 * dead worker's claims are found however many healthy ones stand before them.
 *
 * XPENDING and XCLAIM rather than XAUTOCLAIM: one walk tells what is stale, how often it was delivered and when the next
 * one could be stale, and names the very entry that is claimed for the very slot.
 *
 * KEYS: 1 root, 2… the streams of the lanes.
 * ARGV: as takeEntry takes them, with the letter `u` among the flags if a read was not answered, then for each lane the
 * position to go on from ('-' for the start), then the worker's name as it stands in its consumers' names, then what it works
 * on of what the slots have read: position of the lane and entry id.
 * Returns: now, claims (see takeEntry), ms until the next of the entries looked at could be stale (0: some are, and found
 * no slot; a paused or full lane is looked at again in a second), positions of the lanes, the entries that were set aside
 * (see takeEntry).
 */
const script = defineScript(
  'sweepLanes',
  clockLua +
    bellLua +
    enqueueLua +
    settleLua +
    attemptLua +
    treeLua +
    endTaskLua +
    beginAttemptLua +
    claimsLua +
    takeEntryLua +
    `
local mine = ARGV[at + #lanes + 1] .. '-slot-'
local free = {}
for _, slot in ipairs(slots) do free[slot] = true end
local working = {}
for i = at + #lanes + 2, #ARGV do working[ARGV[i]] = true end

local isUnanswered = string.find(ARGV[3], 'u', 1, true)

local function isOfMine(consumer)
  -- The name of a worker may begin with that of another one and its slot.
  return string.sub(consumer, 1, #mine) == mine and string.find(consumer, '^%d+$', #mine + 1)
end

-- After how long an entry is stale; never if it is left alone.
local function staleAfter(lane, id, consumer)
  if not isOfMine(consumer) then return lane.visibilityMs end
  if not free[consumer] or working[lane.index .. ' ' .. id] then return nil end
  return isUnanswered and 0 or lane.visibilityMs
end

local function holdsPlace(lane, entryId)
  return lane.capType ~= '' and redis.call('ZSCORE', root .. 'cap:' .. lane.capType, lane.name .. ' ' .. entryId)
end

local function claimStale(lane, id, deliveries, afterMs)
  local entry = redis.call('XCLAIM', lane.stream, group, slots[nextSlot], afterMs, id)[1]
  if entry then
    take(lane, id, entry[2], deliveries + 1, true, nextSlot)
  else
    -- Deleted while it was pending; servers before 7.0 keep it in the list.
    redis.call('XACK', lane.stream, group, id)
    release(root, lane.capType, lane.name, id)
  end
end

local soonest, positions = nil, {}
local function couldBeStaleIn(ms)
  if not soonest or ms < soonest then soonest = ms end
end

for _, lane in ipairs(lanes) do
  local from = ARGV[at + lane.index]
  couldBeStaleIn(lane.visibilityMs)
  for _ = 1, 10 do
    local page = redis.pcall('XPENDING', lane.stream, group, from, '+', 100)
    if page.err then page = {} end
    for _, pending in ipairs(page) do
      local id, consumer, idle, deliveries = pending[1], pending[2], pending[3], pending[4]
      local afterMs = staleAfter(lane, id, consumer)
      if afterMs then
        if idle < afterMs then
          couldBeStaleIn(afterMs - idle)
        elseif isPaused(lane.name) or not (holdsPlace(lane, id) or hasPlace(lane)) then
          couldBeStaleIn(1000)
        elseif nextSlot <= #slots then
          claimStale(lane, id, deliveries, afterMs)
        else
          couldBeStaleIn(0)
        end
      end
    end
    from = #page == 100 and '(' .. page[100][1] or '-'
    if from == '-' then break end
  end
  positions[lane.index] = from
end

return { now, claims, soonest or 0, positions, setAside }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const { nextStaleMs } = await sweepLanes(connection, keys('svc/'), { group: 'runner', isJoint: false }, request)
 */
export const sweepLanes = async (
  connection: Connection,
  keys: Keys,
  setting: ClaimSetting,
  request: SweepRequest,
): Promise<SweepReply> => {
  const { keys: scriptKeys, args } = claimArguments(keys, setting, request.workerId, request)
  if (request.isUnanswered === true) args[2] += 'u'
  const positions = request.lanes.map(({ lane }) => request.positions?.get(lane.name) ?? '-')
  const reply = await runScript(connection, script, scriptKeys, [
    ...args,
    ...positions,
    request.workerId,
    ...workingOf(request),
  ])
  if (!Array.isArray(reply) || !Array.isArray(reply[1])) throw new ScriptReplyError(script.name, reply)
  const [now, claims, nextStaleMs, reached, aside] = reply as SweepWire
  return {
    claims: claims.map((wire) => claimOf(script.name, wire, request, now)),
    nextStaleMs,
    positions: new Map(request.lanes.map(({ lane }, index) => [lane.name, reached[index] ?? '-'])),
    ...setAsideOf(aside, request),
  }
}

type SweepWire = [
  now: number,
  claims: readonly WireClaim[],
  nextStaleMs: number,
  positions: readonly string[],
  aside: readonly WireSetAside[],
]

/** What a slot that asks has read for another one. */
const workingOf = ({ working = [], slots, lanes }: SweepRequest): string[] => {
  const free = new Set(slots)
  const read = Array.from(working).filter(({ consumer }) => free.has(consumer))
  if (read.length === 0) return []
  const positions = new Map(lanes.map(({ lane }, index) => [lane.name, index + 1]))
  return read.map(({ lane, entryId }) => `${String(positions.get(lane.name) ?? 0)} ${entryId}`)
}
