import type { OrphanedFamily, TerminalStatus } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Lists ended tasks whose open children have waited for a while to be reaped, longest first, and forgets those that have
 * none any more.
 *
 * KEYS: 1 root, 2 the index. ARGV: age in ms, limit. Returns: for each task its id and status.
 */
const script = defineScript(
  'findOrphaned',
  clockLua +
    `
local found = {}
for _, taskId in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', int(now - ARGV[1]), 'LIMIT', 0, ARGV[2])) do
  local status, open = unpack(redis.call('HMGET', KEYS[1] .. 'row:' .. taskId, 's', 'oc'))
  if (status == 'succeeded' or status == 'failed' or status == 'cancelled') and tonumber(open or 0) > 0 then
    found[#found + 1] = { taskId, status }
  else
    redis.call('ZREM', KEYS[2], taskId)
  end
end
return found
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await findOrphaned(connection, keys('svc/'), { olderThanMs: 5_000, limit: 100 })
 */
export const findOrphaned = async (
  connection: Connection,
  keys: Keys,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<OrphanedFamily[]> => {
  const reply = await runScript(connection, script, [keys.root, keys.orphans], [String(olderThanMs), String(limit)])
  return (reply as Array<[string, TerminalStatus]>).map(([parentId, status]) => ({ parentId, status }))
}
