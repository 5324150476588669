import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { attemptLua, clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Ends leases that have run out, of rows bound to another transport: running rows become pending and marked as not yet
 * enqueued, cancelling ones cancelled.
 *
 * KEYS: 1 root, 2 the index of leases, 3 the index of rows not yet enqueued. ARGV: limit.
 * Returns: ids of the rows that changed.
 */
const script = defineScript(
  'expireAttempts',
  clockLua +
    attemptLua +
    `
local changed = {}
for _, taskId in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[1])) do
  local row = KEYS[1] .. 'row:' .. taskId
  local status, run = unpack(redis.call('HMGET', row, 's', 'run'))
  redis.call('ZREM', KEYS[2], taskId)
  if status == 'running' or status == 'cancelling' then
    closeAttempt(row, run, 't')
    if status == 'cancelling' then
      redis.call('HSET', row, 's', 'cancelled', 'x', int(now))
    else
      redis.call('HSET', row, 's', 'pending')
      redis.call('HINCRBY', row, 'l', 1)
      redis.call('ZADD', KEYS[3], int(now), taskId)
    end
    table.insert(changed, taskId)
  end
end
return changed
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const taskIds = await expireAttempts(connection, keys('svc/'), 100)
 */
export const expireAttempts = async (connection: Connection, keys: Keys, limit: number): Promise<string[]> =>
  (await runScript(connection, script, [keys.root, keys.leases, keys.unqueued], [String(limit)])) as string[]
