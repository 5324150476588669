import type { ClaimBegun } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import type { Lane } from '../keys/lane.js'
import type { LaneReading } from '../port/lanePort.js'

/** A claim as it was read. A class, because there is one for each task in work: see "Classes for what is in work" in docs/performance.md. */
export class ClaimedEntry implements Claim {
  readonly lane: Lane
  readonly visibilityTimeoutMs: number
  readonly isCapped: boolean
  declare readonly begun?: ClaimBegun

  constructor(
    { lane, visibilityTimeoutMs, cap }: LaneReading,
    readonly slot: string,
    readonly consumer: string,
    readonly workerId: string,
    readonly entryId: string,
    readonly deliveryCount: number,
    readonly taskId: string,
    begun: ClaimBegun | undefined,
  ) {
    this.lane = lane
    this.visibilityTimeoutMs = visibilityTimeoutMs
    this.isCapped = cap !== undefined
    if (begun !== undefined) this.begun = begun
  }
}
