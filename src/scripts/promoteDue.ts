import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import type { PromoteReply, PromoteRequest } from '../port/lanePort.js'
import { deadLettersLua } from './deadLettersLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Moves due tasks from the schedule to their lanes, earliest first, and tells when the next one is due. One worker at a
 * time has the role, so that a fleet does not ask all at once; the role passes on when its holder stops asking.
 * A member that cannot be read is set aside; one that cannot be put where it belongs, because a key of another kind is in
 * its place, is tried again in a minute.
 *
 * KEYS: 1 root, 2 the schedule. ARGV: group, promoter, role in ms, limit, take over ('1' or '').
 * Returns: 1 or 0 (has the role), moved, ms until the next is due (-1: none), size of the lane registry, ids of the dead
 * letters that members were made.
 * Cost: one command a task, two a lane, and some eight a call; at most `limit` tasks. 500 of them keep a server for some
 * 1.2 ms.
 */
const script = defineScript(
  'promoteDue',
  clockLua +
    bellLua +
    enqueueLua +
    deadLettersLua +
    `
local root, schedule = KEYS[1], KEYS[2]
local group, promoter, roleMs, limit, takeOver = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local known = redis.call('SCARD', root .. 'lanes')
local holder = redis.call('GET', root .. 'promoter')
if holder and holder ~= promoter and takeOver ~= '1' then return { 0, 0, -1, known, {} } end
redis.call('SET', root .. 'promoter', promoter, 'PX', roleMs)

-- Members of a lane differ in their task ids alone, so what comes after these is understood once a call.
local lanes = {}
local function laneOf(task)
  local version = tonumber(task.handlerVersion)
  assert(version >= 1 and version < 2 ^ 53 and version == math.floor(version))
  local kind, text = task.type .. '', int(version)
  local name = task.lane or kind .. ':v' .. text
  return { name = name, kind = kind, version = text, stream = root .. 'queue:' .. name, bell = root .. 'bell:' .. name }
end

-- Plain searches, and names that are looked up once: by a pattern, finding the id costs more than writing the entry. What
-- is escaped, or no JSON, is not cut.
local find, sub = string.find, string.sub
local function cut(member)
  if find(member, '{"taskId":"', 1, true) ~= 1 then return end
  local stop = find(member, '"', 12, true)
  if not stop then return end
  local id = sub(member, 12, stop - 1)
  if find(id, '\\\\', 1, true) or find(id, '\\0', 1, true) then return end
  return id, sub(member, stop + 1)
end

local function read(member, id, rest)
  local task = cjson.decode(id and '{"taskId":""' .. rest or member)
  local lane = laneOf(task)
  -- It may be named twice.
  if not id or task.taskId ~= '' then return lane, task.taskId .. '' end
  lanes[rest] = lane
  return lane, id
end

local function write(lane, id)
  local written = redis.pcall('XADD', lane.stream, 'NOMKSTREAM', '*', 'taskId', id, 'type', lane.kind, 'handlerVersion', lane.version)
  if not written then return pcall(enqueue, root, group, lane.name, id, lane.kind, lane.version) end
  if type(written) == 'table' then return false end
  ring(lane.bell)
  return true
end

local function setAside(aside, member)
  local isDone, id = pcall(buryEntry, root, 'u', 'scheduler', '', { 'member', member })
  if isDone then aside[#aside + 1] = id end
  return isDone
end

-- Together, as to search for each costs as much as to write its entry; and first, so that nothing is written twice if it is
-- refused. What follows does not raise: what cannot be written comes back.
local due = redis.call('ZRANGEBYSCORE', schedule, '-inf', now, 'LIMIT', 0, limit)
if #due > 0 then redis.call('ZREMRANGEBYRANK', schedule, 0, #due - 1) end
local aside = {}
for _, member in ipairs(due) do
  local id, rest = cut(member)
  local isReadable, lane = true, id and lanes[rest]
  if not lane then isReadable, lane, id = pcall(read, member, id, rest) end
  local isMoved
  if isReadable then isMoved = write(lane, id) else isMoved = setAside(aside, member) end
  -- A key of another kind is in the way. Nothing behind has to wait for that.
  if not isMoved then redis.call('ZADD', schedule, int(now + 60000), member) end
end
local first = redis.call('ZRANGE', schedule, 0, 0, 'WITHSCORES')
local nextDue = first[2] and math.max(0, tonumber(first[2]) - now) or -1
return { 1, #due, math.ceil(nextDue), redis.call('SCARD', root .. 'lanes'), aside }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await promoteDue(connection, keys('svc/'), 'runner', { promoterId: 'w', roleMs: 500, limit: 250 })
 */
export const promoteDue = async (
  connection: Connection,
  keys: Keys,
  group: string,
  request: PromoteRequest,
): Promise<PromoteReply> => {
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.scheduler],
    [group, request.promoterId, String(request.roleMs), String(request.limit), request.takeOver ? '1' : ''],
  )
  if (!Array.isArray(reply) || reply.length !== 5) throw new ScriptReplyError(script.name, reply)
  const [role, moved, nextDueMs, knownLanes, setAside] = reply as [number, number, number, number, string[]]
  return {
    isPromoter: role === 1,
    moved,
    knownLanes,
    ...(nextDueMs >= 0 && { nextDueMs }),
    ...(setAside.length > 0 && { setAside: setAside.map((id) => ({ id, lane: 'scheduler', reason: 'unreadable' })) }),
  }
}
