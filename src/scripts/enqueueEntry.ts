import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { Entry } from '../port/lanePort.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { parkedMember } from './parkedMember.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Puts a task into its lane, or parks it if it is not due by the server's clock.
 *
 * KEYS: 1 root, 2 the lane's stream. ARGV: group, lane, task id, type, version, not before (epoch ms, 0 for now), member.
 * Returns: 1.
 */
const script = defineScript(
  'enqueueEntry',
  clockLua +
    bellLua +
    enqueueLua +
    `
local group, lane, taskId, kind, version, notBefore, member = unpack(ARGV)
if tonumber(notBefore) > now then
  park(KEYS[1], member, tonumber(notBefore))
else
  enqueue(KEYS[1], group, lane, taskId, kind, version)
end
return 1
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await enqueueEntry(connection, keys('svc/'), 'runner', { taskId: 'a', lane: lane('mail', 1) })
 */
export const enqueueEntry = async (connection: Connection, keys: Keys, group: string, entry: Entry): Promise<void> => {
  const { taskId, lane, notBefore = 0 } = entry
  await runScript(
    connection,
    script,
    [keys.root, keys.queue(lane)],
    [
      group,
      lane.name,
      taskId,
      lane.type,
      String(lane.handlerVersion),
      String(Math.ceil(notBefore)),
      parkedMember(taskId, lane),
    ],
  )
}
