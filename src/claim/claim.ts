import type { ClaimBegun } from '@furystack/task-runner'

import type { Lane } from '../keys/lane.js'

/**
 * An entry that we own, for the one slot that runs it.
 *
 * Consumer (`slot`) and `deliveryCount` together are the fence: once the entry has been delivered to somebody else, this
 * claim can change nothing any more.
 */
export interface Claim {
  readonly taskId: string
  readonly lane: Lane
  readonly entryId: string
  /** Consumer name, `${workerId}-slot-${index}`. */
  readonly slot: string
  readonly workerId: string
  /** From 1. */
  readonly deliveryCount: number
  readonly visibilityTimeoutMs: number
  /** Whether it holds a place under the fleet cap of its type. */
  readonly isCapped: boolean
  /** The attempt that was begun in the same step, where the rows live in the same Redis. */
  readonly begun?: ClaimBegun
}
