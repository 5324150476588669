import type { FailedTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { endTaskLua } from './endTaskLua.js'
import { failUnrunLua } from './failUnrunLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { parentOf } from './parentOf.js'
import { readRows } from './readRows.js'
import { defineScript, runScript } from './runScript.js'
import { treeLua } from './treeLua.js'

/**
 * Fails pending tasks that were to have begun by now, earliest deadline first, takes those that are parked out of the
 * schedule, and tells their parents.
 *
 * KEYS: 1 root, 2 the deadlines, 3 the schedule. ARGV: group ('': a woken parent is marked as not yet enqueued), limit.
 * Returns: now, then for each task that has failed its id and what tellParent answered.
 */
const script = defineScript(
  'expireTasks',
  clockLua +
    bellLua +
    enqueueLua +
    treeLua +
    endTaskLua +
    failUnrunLua +
    `
local root, deadlines, schedule = unpack(KEYS)
local replies = { now }
for _, taskId in ipairs(redis.call('ZRANGEBYSCORE', deadlines, '-inf', now, 'LIMIT', 0, ARGV[2])) do
  redis.call('ZREM', deadlines, taskId)
  local status, member = unpack(redis.call('HMGET', root .. 'row:' .. taskId, 's', 'm'))
  if status == 'pending' then
    if member then redis.call('ZREM', schedule, member) end
    redis.call('ZREM', root .. 'unqueued', taskId)
    replies[#replies + 1] = { taskId, (failLateTask(root, ARGV[1], taskId)) }
  end
end
return replies
`,
)

/**
 * The typed caller of the script above, with the rows read.
 *
 * @example
 * const failed = await expireTasks(connection, keys('svc/'), 'runner', 100)
 */
export const expireTasks = async (
  connection: Connection,
  keys: Keys,
  group: string,
  limit: number,
): Promise<FailedTask[]> => {
  const reply = await runScript(connection, script, [keys.root, keys.deadlines, keys.scheduler], [group, String(limit)])
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, ...failed] = reply as [number, ...Array<[taskId: string, parent: string]>]
  const rows = await readRows(
    connection,
    keys,
    failed.map(([taskId]) => taskId),
  )
  return failed.flatMap(([, parent], index) => {
    const stored = rows[index]
    return stored ? [{ stored, at, ...parentOf(parent) }] : []
  })
}
