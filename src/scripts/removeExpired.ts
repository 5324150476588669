import type { RemovedRows } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { blobsLua } from './blobsLua.js'
import { deadLettersLua } from './deadLettersLua.js'
import { clockLua } from './fragments.js'
import { heldKeyLua } from './heldKeyLua.js'
import { defineScript, runScript } from './runScript.js'

/** A row whose children are still being cancelled is looked at again after this. */
const OPEN_AGAIN_MS = 60_000
/** Children that one call passes on, at most. */
const CHILDREN = 500
/** Of the dead letters, this many of the oldest are looked at, and as many others. */
const LETTERS = 20

/**
 * Removes rows whose time is over, longest first. The children of a row become due in its place, page by page, and the row
 * goes with the last of them; so neither depth nor width of a tree makes a call longer. A row that has open children, or
 * whose idempotency key is held, stays for a while. Dead letters whose rows have gone are forgotten, a few a call.
 *
 * KEYS: 1 root, 2 the index. ARGV: rows to look at.
 * Returns: rows removed, 1 if more are due.
 * Cost: about four commands a row, and one a page of children.
 */
const script = defineScript(
  'removeExpired',
  clockLua +
    heldKeyLua +
    deadLettersLua +
    blobsLua +
    `
local root, index = KEYS[1], KEYS[2]
local removed, passedOn = 0, 0

local function passOn(row)
  local children = redis.call('LPOP', row .. ':children', ${String(CHILDREN)})
  if not children then return true end
  local due = {}
  for i, childId in ipairs(children) do
    due[2 * i - 1], due[2 * i] = 0, childId
  end
  redis.call('ZADD', index, unpack(due))
  passedOn = passedOn + #children
  return redis.call('EXISTS', row .. ':children') == 0
end

for _, taskId in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now, 'LIMIT', 0, ARGV[1])) do
  if passedOn >= ${String(CHILDREN)} then break end
  local row = root .. 'row:' .. taskId
  local status, open, key, kind, stores = unpack(redis.call('HMGET', row, 's', 'oc', 'k', 't', 'bl'))
  local held = 0
  if key then held = heldMs(root, kind, key, taskId) end
  if status and status ~= 'succeeded' and status ~= 'failed' and status ~= 'cancelled' then
    -- It has been made to run again.
    redis.call('ZREM', index, taskId)
  elseif tonumber(open or 0) > 0 then
    redis.call('ZADD', index, int(now + ${String(OPEN_AGAIN_MS)}), taskId)
  elseif held ~= 0 then
    if held then redis.call('ZADD', index, int(now + held), taskId) else redis.call('ZREM', index, taskId) end
  elseif passOn(row) then
    if stores then forgetBlobs(root, row, taskId) end
    redis.call('UNLINK', row, row .. ':events', row .. ':steps', row .. ':open')
    redis.call('ZREM', index, taskId)
    redis.call('ZREM', root .. 'orphans', taskId)
    removed = removed + 1
  end
end
-- Rows without children are forgotten by the server, which does not take them out of the index of dead letters.
local letters = root .. 'deadletters'
forgetGone(root, redis.call('ZRANGE', letters, 0, ${String(LETTERS - 1)}))
forgetGone(root, redis.call('ZRANDMEMBER', letters, ${String(LETTERS)}))

return { removed, #redis.call('ZRANGEBYSCORE', index, '-inf', now, 'LIMIT', 0, 1) }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const { removed, hasMore } = await removeExpired(connection, keys('svc/'), 100)
 */
export const removeExpired = async (connection: Connection, keys: Keys, limit: number): Promise<RemovedRows> => {
  const reply = await runScript(connection, script, [keys.root, keys.retention], [String(limit)])
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [removed, more] = reply as [number, number]
  return { removed, hasMore: more > 0 }
}
