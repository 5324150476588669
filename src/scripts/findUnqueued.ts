import type { StoredTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { defineScript, runScript } from './runScript.js'
import { readRows } from './readRows.js'

/**
 * Lists pending rows that have waited for their entry for a while, oldest first, and forgets those that no longer do.
 *
 * KEYS: 1 root, 2 the index of rows not yet enqueued. ARGV: age in ms, limit. Returns: their ids.
 */
const script = defineScript(
  'findUnqueued',
  `
local time = redis.call('TIME')
local before = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[1]))
local found = {}
for _, taskId in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', before, 'LIMIT', 0, ARGV[2])) do
  if redis.call('HGET', KEYS[1] .. 'row:' .. taskId, 's') == 'pending' then
    table.insert(found, taskId)
  else
    redis.call('ZREM', KEYS[2], taskId)
  end
end
return found
`,
)

/**
 * The typed caller of the script above, with the rows read.
 *
 * @example
 * await findUnqueued(connection, keys('svc/'), { olderThanMs: 1000, limit: 100 })
 */
export const findUnqueued = async (
  connection: Connection,
  keys: Keys,
  query: { olderThanMs: number; limit: number },
): Promise<StoredTask[]> => {
  const taskIds = (await runScript(
    connection,
    script,
    [keys.root, keys.unqueued],
    [String(query.olderThanMs), String(query.limit)],
  )) as string[]
  return (await readRows(connection, keys, taskIds)).filter((row) => row !== undefined)
}
