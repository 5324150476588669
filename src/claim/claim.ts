import type { ClaimBegun } from '@furystack/task-runner'

import type { Lane } from '../keys/lane.js'

/**
 * An entry that we own, for the one slot that runs it.
 *
 * `consumer` and `deliveryCount` together are the fence: once the entry has been delivered to somebody else, this claim can
 * change nothing any more.
 *
 * @example
 * const work = ({ taskId, lane, deliveryCount }: Claim): void => console.log(taskId, lane.name, deliveryCount)
 */
export interface Claim {
  /** The task, whose row is elsewhere. */
  readonly taskId: string
  /** Where its entry is. */
  readonly lane: Lane
  /** The id of the entry in the stream. */
  readonly entryId: string
  /** Which slot runs it, `${workerId}-slot-${index}`. */
  readonly slot: string
  /** Whose it is by the server's list: a slot of the same worker, the first of those that one read was made for. */
  readonly consumer: string
  /** Whose slot it is. */
  readonly workerId: string
  /** From 1. */
  readonly deliveryCount: number
  /** After so many milliseconds without being extended somebody else may take it over. */
  readonly visibilityTimeoutMs: number
  /** Whether it holds a place under the fleet cap of its type. */
  readonly isCapped: boolean
  /** The attempt that was begun in the same step, where the rows live in the same Redis. */
  readonly begun?: ClaimBegun
}
