import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { deadLettersLua } from './deadLettersLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Puts an entry back to where it was set aside: into its lane, or into the schedule, where it is due at once.
 *
 * KEYS: 1 root, 2 the entries that were set aside. ARGV: group, id. Returns: now, word (resent, missing, cut).
 */
const script = defineScript(
  'resendEntry',
  clockLua +
    bellLua +
    enqueueLua +
    deadLettersLua +
    `
local root, group, id = KEYS[1], ARGV[1], ARGV[2]
local found = deadEntry(root, id)
if not found then return { now, 'missing' } end
local entry = {}
for i = 1, #found, 2 do entry[found[i]] = found[i + 1] end
if entry.cut == '1' then return { now, 'cut' } end

local fields = cjson.decode(entry.fields)
if entry.lane == 'scheduler' then
  park(root, fields[2], now)
else
  local stream = root .. 'queue:' .. entry.lane
  if redis.call('EXISTS', stream) == 0 then
    redis.call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
    redis.call('SADD', root .. 'lanes', entry.lane)
  end
  redis.call('XADD', stream, '*', unpack(fields))
  ring(root .. 'bell:' .. entry.lane)
end
redis.call('XDEL', KEYS[2], id)
unbury(root, entry.letter, laneType(entry.lane), id)
return { now, 'resent' }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await resendEntry(connection, keys('svc/'), 'runner', '1700000000000-0')
 */
export const resendEntry = async (
  connection: Connection,
  keys: Keys,
  group: string,
  id: string,
): Promise<{ kind: 'resent'; at: number } | { kind: 'missing' | 'cut' }> => {
  const reply = await runScript(connection, script, [keys.root, keys.unreadable], [group, id])
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word] = reply as [number, string]
  if (word === 'resent') return { kind: 'resent', at }
  return { kind: word === 'cut' ? 'cut' : 'missing' }
}
