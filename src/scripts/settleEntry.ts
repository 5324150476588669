import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { Settlement, SettleReply } from '../port/lanePort.js'
import { bellLua, clockLua, enqueueLua, fenceLua, settleLua } from './fragments.js'
import { parkedMember } from './parkedMember.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Ends a delivery, if the consumer still owns it: the entry is acknowledged and deleted, its cap place freed, and for a
 * requeue the task put back, all in one step.
 *
 * KEYS: 1 root, 2 the lane's stream.
 * ARGV: group, consumer, entry id, deliveries, lane, cap type, kind ('done' or 'requeue'), delay in ms, not before
 * (epoch ms or ''), task id, type, version, member of the schedule.
 * Returns: 1 settled, 0 lost.
 */
const script = defineScript(
  'settleEntry',
  clockLua +
    bellLua +
    enqueueLua +
    settleLua +
    fenceLua +
    `
local root, stream = KEYS[1], KEYS[2]
local group, consumer, entryId, deliveries, lane, capType, kind = unpack(ARGV, 1, 7)
if not owns(stream, group, consumer, entryId, deliveries) then return 0 end
if kind == 'requeue' then
  local due = ARGV[9] ~= '' and tonumber(ARGV[9]) or now + tonumber(ARGV[8])
  if due > now then park(root, ARGV[13], due) else enqueue(root, group, lane, ARGV[10], ARGV[11], ARGV[12]) end
end
settle(root, group, lane, entryId, capType)
return 1
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await settleEntry(connection, keys('svc/'), 'runner', claim, { kind: 'done' }) // 'settled'
 */
export const settleEntry = async (
  connection: Connection,
  keys: Keys,
  group: string,
  claim: Claim,
  settlement: Settlement,
): Promise<SettleReply> => {
  const { lane } = claim
  const requeue = settlement.kind === 'requeue' ? settlement : undefined
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.queue(lane)],
    [
      group,
      claim.slot,
      claim.entryId,
      String(claim.deliveryCount),
      lane.name,
      claim.isCapped ? lane.type : '',
      settlement.kind,
      String(requeue?.delayMs ?? 0),
      String(requeue?.notBefore ?? ''),
      claim.taskId,
      lane.type,
      String(lane.handlerVersion),
      parkedMember(claim.taskId, lane),
    ],
  )
  return reply === 1 ? 'settled' : 'lost'
}
