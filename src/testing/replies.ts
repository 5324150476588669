import type { Claim } from '../claim/claim.js'
import type { ListenReply, PromoteReply, ReadReply, SweepReply } from '../port/lanePort.js'

/**
 * What `LanePort.read` answers: the claims, no full lane.
 *
 * @example
 * import { of } from 'rxjs'
 * marbleLanePort({ read: () => of(readReply([claimOf('w-slot-0')])) })
 */
export const readReply = (claims: readonly Claim[] = [], overrides: Partial<ReadReply> = {}): ReadReply => ({
  claims,
  full: [],
  ...overrides,
})

/**
 * What `LanePort.listen` answers: the claims; nothing rang, and no lane is full.
 *
 * @example
 * import { of } from 'rxjs'
 * marbleLanePort({ listen: () => of(listenReply([claimOf('w-slot-0')], { bell: 'lanes' })) })
 */
export const listenReply = (claims: readonly Claim[] = [], overrides: Partial<ListenReply> = {}): ListenReply => ({
  ...readReply(claims),
  ...overrides,
})

/**
 * What `LanePort.sweep` answers: the claims, and that nothing else can be stale for a minute.
 *
 * @example
 * import { of } from 'rxjs'
 * marbleLanePort({ sweep: () => of(sweepReply([], { nextStaleMs: 200 })) })
 */
export const sweepReply = (claims: readonly Claim[] = [], overrides: Partial<SweepReply> = {}): SweepReply => ({
  claims,
  nextStaleMs: 60_000,
  positions: new Map(),
  ...overrides,
})

/**
 * What `LanePort.promote` answers: the role is ours, nothing was moved, nothing is parked, one known lane.
 *
 * @example
 * import { of } from 'rxjs'
 * marbleLanePort({ promote: () => of(promoteReply({ moved: 3, nextDueMs: 40 })) })
 */
export const promoteReply = (overrides: Partial<PromoteReply> = {}): PromoteReply => ({
  isPromoter: true,
  moved: 0,
  knownLanes: 1,
  ...overrides,
})
