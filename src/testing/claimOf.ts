import type { Claim } from '../claim/claim.js'
import { lane } from '../keys/lane.js'

/**
 * A claim for a slot: the first delivery of a task of the lane `mail:v1`, without a cap, unless told otherwise. The worker
 * is read off the slot's name.
 *
 * @example
 * claimOf('w-slot-0') // task 'a', worker 'w', entry '1-1'
 * claimOf('w-slot-1', { taskId: 'b', deliveryCount: 2 })
 */
export const claimOf = (slot: string, overrides: Partial<Claim> = {}): Claim => ({
  taskId: 'a',
  lane: lane('mail', 1),
  entryId: '1-1',
  slot,
  consumer: slot,
  workerId: slot.replace(/-slot-\d+$/, ''),
  deliveryCount: 1,
  visibilityTimeoutMs: 60_000,
  isCapped: false,
  ...overrides,
})
