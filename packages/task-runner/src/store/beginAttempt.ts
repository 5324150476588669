import type { TaskStatus } from '../task/taskStatus.js'
import type { ParentUpdate } from './parentUpdate.js'
import type { FailedTask, StoredTask } from './storedTask.js'

/**
 * Begins the next attempt of a pending task, or takes a running one over from an owner whose lease is over.
 *
 * @example
 * const input: BeginAttempt = { taskId, workerId: 'w', visibilityTimeoutMs: 60_000, redelivered: false }
 * await store.beginAttempt(input)
 */
export interface BeginAttempt {
  /** The task. */
  taskId: string
  /** Who is to own the attempt. */
  workerId: string
  /** How long the lease lasts unless it is extended, in milliseconds. */
  visibilityTimeoutMs: number
  /** The broker says that the earlier owner's claim has run out, so its lease need not be looked at. */
  redelivered: boolean
  /** How many lost attempts the task may have; with so many it fails instead. @default no limit */
  maxDeliveries?: number
  /** Refuses a row whose `notBefore` is still to come, as a second entry of its task may. @default false */
  onlyIfDue?: boolean
}

/**
 * - `begun`: the caller owns attempt number `attempt` of the row; an open attempt before it is `timed-out` now.
 * - `cancelled`: the row was `cancelling` with no living owner, or its parent is over; it is `cancelled`
 *   now, and nothing is to be run.
 * - `failed`: it has lost as many attempts as it may, or was to start before now; it is `failed` now with the error in the
 *   row, and nothing is to be run.
 * - `refused`: `missing` no such row; `stale` the row is a draft, waiting or terminal; `owned` somebody holds a live
 *   lease on it, until `leaseUntil`; `early` it is due at `dueAt` only (both epoch milliseconds).
 *
 * @example
 * const begun: BeginResult = await store.beginAttempt(begin)
 * if (begun.kind === 'refused') console.log(begun.reason) // 'owned', say
 */
export type BeginResult =
  | { kind: 'begun'; stored: StoredTask; attempt: number; at: number }
  | { kind: 'cancelled'; stored: StoredTask; at: number; parent?: ParentUpdate }
  | ({ kind: 'failed' } & FailedTask)
  | {
      kind: 'refused'
      reason: 'missing' | 'stale' | 'owned' | 'early'
      status?: TaskStatus
      leaseUntil?: number
      dueAt?: number
    }
