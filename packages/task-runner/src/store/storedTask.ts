import type { Task } from '../task/task.js'
import type { ParentUpdate } from './parentUpdate.js'

/**
 * A task with the counters that the core decides by.
 *
 * @example
 * const stored: StoredTask | undefined = await store.get(taskId)
 * console.log(stored?.task.status, stored?.failures)
 */
export interface StoredTask {
  /** The row. */
  task: Task
  /** Attempts that ended in failure, since the task was submitted or resent. The retry policy counts these. */
  failures: number
  /** Attempts whose lease ended before they did, since the same time. Counted apart from failures. */
  losses: number
  /** What recorded steps are kept apart by: it grows with each failure and each resend. @default failures */
  generation?: number
  /** Why a failed task has failed, if not by its last attempt. */
  deadReason?: 'lost' | 'expired'
  /** What the canceller gave as its reason, while `cancelling` and after. */
  cancelReason?: string
  /** Children that have not ended; absent for none. */
  openChildren?: number
  /** Whether steps have been recorded. */
  hasSteps?: boolean
}

/**
 * A row that has failed without being run (again), when (epoch milliseconds), and what that did to its parent.
 *
 * @example
 * const failed: FailedTask[] = await store.expireTasks({ limit: 100 })
 * const parents = failed.flatMap(({ parent }) => (parent?.woken ? [parent.taskId] : []))
 */
export interface FailedTask {
  /** The row as it is now. */
  stored: StoredTask
  /** When it failed, in epoch milliseconds by the store’s clock. */
  at: number
  /** What became of its parent, if it has one. */
  parent?: ParentUpdate
}

/**
 * A row whose lease has been ended, and what that did to its parent.
 *
 * @example
 * const expired: ExpiredTask[] = await store.expireAttempts({ limit: 100 })
 * const ids = expired.map(({ task }) => task.id)
 */
export type ExpiredTask = StoredTask & {
  /** What became of its parent, if it has one. */
  parent?: ParentUpdate
}
