import type { Claim } from '../claim/claim.js'
import type { Settlement, SettleReply } from '../port/lanePort.js'
import { holderOf } from './virtualClaims.js'
import { capBell, type VirtualLanes } from './virtualLanes.js'

/** Ends a delivery that is still ours; puts the task back first if that is asked for. */
export const settleVirtually = (lanes: VirtualLanes, claim: Claim, settlement: Settlement): SettleReply => {
  const stream = lanes.find(claim.lane)
  if (!stream?.owns(claim)) return 'lost'
  if (settlement.kind === 'requeue') {
    const dueAt = settlement.notBefore ?? lanes.now() + (settlement.delayMs ?? 0)
    if (dueAt > lanes.now()) lanes.park(claim.lane, claim.taskId, dueAt)
    else lanes.enqueue(claim.lane, claim.taskId)
  }
  stream.settle(claim.entryId)
  if (claim.isCapped) {
    lanes.caps.release(claim.lane.type, holderOf(claim, claim.entryId))
    lanes.bells.ring(capBell(claim.lane.type))
  }
  return 'settled'
}

/** Renews a claim that is still ours, and its place under the cap. */
export const extendVirtually = (lanes: VirtualLanes, claim: Claim): boolean => {
  const stream = lanes.find(claim.lane)
  if (!stream?.owns(claim)) return false
  stream.renew(claim.entryId)
  const { lane, entryId, visibilityTimeoutMs } = claim
  if (claim.isCapped) lanes.caps.hold(lane.type, holderOf(claim, entryId), lanes.now() + visibilityTimeoutMs)
  return true
}
