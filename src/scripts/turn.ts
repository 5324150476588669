import type { FinishAttempt } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import type { ClaimRequest } from './claimWire.js'

/** An attempt to be ended, and the claim to be settled with it. */
export interface FinishedClaim {
  readonly claim: Claim
  readonly input: FinishAttempt
}

/** What a worker has to say to Redis at once. */
export interface Turn {
  /** Attempts that have ended. */
  readonly finishing: readonly FinishedClaim[]
  /** What is to be read once these are ended; nothing is, without a slot. */
  readonly reading: ClaimRequest
  /** Claims whose entries are to be settled for good, without an attempt that would end with them. */
  readonly settling: readonly Claim[]
  /** Claims that were settled by an earlier turn, to be taken off their streams. */
  readonly left: readonly Claim[]
  /** Whether entries that are settled may stay in their streams for now, if the read finds all that it asks for. */
  readonly isLoaded: boolean
}

/** A turn to which something is added. */
export const NOTHING_TO_SAY: Turn = {
  finishing: [],
  reading: { workerId: '', slots: [], lanes: [] },
  settling: [],
  left: [],
  isLoaded: false,
}
