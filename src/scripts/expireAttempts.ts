import type { ParentUpdate } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { endTaskLua } from './endTaskLua.js'
import { attemptLua, bellLua, clockLua, enqueueLua } from './fragments.js'
import { parentOf } from './parentOf.js'
import { defineScript, runScript } from './runScript.js'
import { treeLua } from './treeLua.js'

/**
 * Ends leases that have run out, of rows bound to another transport: running rows become pending and marked as not yet
 * enqueued, cancelling ones cancelled, which their parents are told.
 *
 * KEYS: 1 root, 2 the index of leases, 3 the index of rows not yet enqueued. ARGV: limit.
 * Returns: for each row that changed its id, and what tellParent answered ('' for none).
 */
const script = defineScript(
  'expireAttempts',
  clockLua +
    bellLua +
    enqueueLua +
    attemptLua +
    treeLua +
    endTaskLua +
    `
local changed = {}
for _, taskId in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[1])) do
  local row = KEYS[1] .. 'row:' .. taskId
  local status, run = unpack(redis.call('HMGET', row, 's', 'run'))
  redis.call('ZREM', KEYS[2], taskId)
  if status == 'running' or status == 'cancelling' then
    local parent = ''
    loseAttempt(row, run)
    if status == 'cancelling' then
      parent = endTask(KEYS[1], '', taskId, 'cancelled', false, nil, nil)
    else
      redis.call('HSET', row, 's', 'pending')
      redis.call('ZADD', KEYS[3], nowText, taskId)
    end
    table.insert(changed, { taskId, parent })
  end
end
return changed
`,
)

/** The id of a row whose lease has been ended, and what its parent was told. */
export interface ExpiredId {
  readonly taskId: string
  readonly parent?: ParentUpdate
}

/**
 * The typed caller of the script above.
 *
 * @example
 * const expired = await expireAttempts(connection, keys('svc/'), 100)
 */
export const expireAttempts = async (connection: Connection, keys: Keys, limit: number): Promise<ExpiredId[]> => {
  const reply = await runScript(connection, script, [keys.root, keys.leases, keys.unqueued], [String(limit)])
  return (reply as Array<[string, string]>).map(([taskId, parent]) => ({ taskId, ...parentOf(parent) }))
}
