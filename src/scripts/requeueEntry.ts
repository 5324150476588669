import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { SettleReply } from '../port/lanePort.js'
import { bellLua, clockLua, enqueueLua, fenceLua, settleLua } from './fragments.js'
import { parkedMember } from './parkedMember.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Ends a delivery, if the consumer still owns it, and puts the task back: the entry is acknowledged and deleted, its cap
 * place freed, and a new entry made or the task parked, all in one step.
 *
 * KEYS: 1 root, 2 the lane's stream.
 * ARGV: group, consumer, entry id, deliveries, lane, cap type, delay in ms, not before (epoch ms or ''),
 * task id, type, version, member of the schedule.
 * Returns: 1 settled, 0 lost.
 */
const script = defineScript(
  'requeueEntry',
  clockLua +
    bellLua +
    enqueueLua +
    settleLua +
    fenceLua +
    `
local root, stream = KEYS[1], KEYS[2]
local group, consumer, entryId, deliveries, lane, capType = unpack(ARGV, 1, 6)
if not owns(stream, group, consumer, entryId, deliveries) then return 0 end
local due = ARGV[8] ~= '' and tonumber(ARGV[8]) or now + tonumber(ARGV[7])
if due > now then park(root, ARGV[12], due) else enqueue(root, group, lane, ARGV[9], ARGV[10], ARGV[11]) end
settle(root, group, lane, entryId, capType)
return 1
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await requeueEntry(connection, keys('svc/'), 'runner', claim, { delayMs: 250 }) // 'settled'
 */
export const requeueEntry = async (
  connection: Connection,
  keys: Keys,
  group: string,
  claim: Claim,
  { delayMs = 0, notBefore = '' }: { readonly delayMs?: number; readonly notBefore?: number | '' },
): Promise<SettleReply> => {
  const { lane } = claim
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.queue(lane)],
    [
      group,
      claim.consumer,
      claim.entryId,
      String(claim.deliveryCount),
      lane.name,
      claim.isCapped ? lane.type : '',
      String(delayMs),
      String(notBefore),
      claim.taskId,
      lane.type,
      String(lane.handlerVersion),
      parkedMember(claim.taskId, lane),
    ],
  )
  return reply === 1 ? 'settled' : 'lost'
}
