import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { blobsLua } from './blobsLua.js'
import { deadLettersLua } from './deadLettersLua.js'
import { clockLua } from './fragments.js'
import { heldKeyLua } from './heldKeyLua.js'
import { defineScript, runScript } from './runScript.js'

/** Children that one call passes on, at most. */
const CHILDREN = 500

/**
 * Removes a failed task with all that belongs to it, and frees its idempotency key; or an entry that was set aside. Its
 * children are due for removal by that. A task with open children, or with more of them than one call passes on, is itself
 * left to removeExpired.
 *
 * KEYS: 1 root, 2 the row, 3 the entries that were set aside. ARGV: id. Returns: 1 or 0 (it was no dead letter).
 */
const script = defineScript(
  'discardDeadLetter',
  clockLua +
    heldKeyLua +
    deadLettersLua +
    blobsLua +
    `
local root, row, id = KEYS[1], KEYS[2], ARGV[1]
local status, kind, reason, key, open, stores = unpack(redis.call('HMGET', row, 's', 't', 'dr', 'k', 'oc', 'bl'))
if status then
  if status ~= 'failed' then return 0 end
  unbury(root, deadLetterOf(reason), kind, id)
  if key then
    local lease = root .. 'idem:' .. nameOfKey(kind, key)
    if redis.call('GET', lease) == id then redis.call('DEL', lease) end
  end
  local count = redis.call('LLEN', row .. ':children')
  if count > ${String(CHILDREN)} or tonumber(open or 0) > 0 then
    redis.call('ZADD', root .. 'retention', 0, id)
    return 1
  end
  for _, childId in ipairs(redis.call('LRANGE', row .. ':children', 0, -1)) do
    redis.call('ZADD', root .. 'retention', 0, childId)
  end
  redis.call('ZREM', root .. 'retention', id)
  if stores then forgetBlobs(root, row, id) end
  redis.call('UNLINK', row, row .. ':events', row .. ':children', row .. ':open', row .. ':steps')
  return 1
end
local found = deadEntry(root, id)
if not found then return 0 end
local entry = {}
for i = 1, #found, 2 do entry[found[i]] = found[i + 1] end
redis.call('XDEL', KEYS[3], id)
unbury(root, entry.letter, laneType(entry.lane), id)
return 1
`,
)

/**
 * The typed caller of the script above; answers whether there was something to remove.
 *
 * @example
 * await discardDeadLetter(connection, keys('svc/'), taskId)
 */
export const discardDeadLetter = async (connection: Connection, keys: Keys, id: string): Promise<boolean> =>
  (await runScript(connection, script, [keys.root, keys.row(id), keys.unreadable], [id])) === 1
