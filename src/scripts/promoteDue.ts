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
 * A member that cannot be read is set aside; one whose lane cannot be written to is tried again in a minute.
 *
 * KEYS: 1 root, 2 the schedule. ARGV: group, promoter, role in ms, limit, take over ('1' or '').
 * Returns: 1 or 0 (has the role), moved, ms until the next is due (-1: none), size of the lane registry, ids of the dead
 * letters that members were made.
 * Cost: about four commands a task; at most `limit` tasks.
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

local function read(member)
  local task = cjson.decode(member)
  local version = tonumber(task.handlerVersion)
  assert(version >= 1 and version < 2 ^ 53 and version == math.floor(version))
  version = int(version)
  return { id = task.taskId .. '', kind = task.type .. '', version = version,
    lane = task.lane or task.type .. ':v' .. version }
end

local setAside = {}
local due = redis.call('ZRANGEBYSCORE', schedule, '-inf', now, 'LIMIT', 0, limit)
for _, member in ipairs(due) do
  local readable, task = pcall(read, member)
  if not readable then
    setAside[#setAside + 1] = buryEntry(root, 'u', 'scheduler', '', { 'member', member })
    redis.call('ZREM', schedule, member)
  elseif pcall(enqueue, root, group, task.lane, task.id, task.kind, task.version) then
    redis.call('ZREM', schedule, member)
  else
    -- The lane cannot be written to: a key of another kind is in its place. Nothing behind it has to wait for that.
    redis.call('ZADD', schedule, int(now + 60000), member)
  end
end
local first = redis.call('ZRANGE', schedule, 0, 0, 'WITHSCORES')
local nextDue = first[2] and math.max(0, tonumber(first[2]) - now) or -1
return { 1, #due, math.ceil(nextDue), redis.call('SCARD', root .. 'lanes'), setAside }
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
