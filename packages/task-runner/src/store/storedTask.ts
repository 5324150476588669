import type { Task } from '../task/task.js'
import type { ParentUpdate } from './parentUpdate.js'

/** A task with the counters that the core decides by. */
export interface StoredTask {
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

/** A row that has failed without being run (again), when (epoch milliseconds), and what that did to its parent. */
export interface FailedTask {
  stored: StoredTask
  at: number
  parent?: ParentUpdate
}

/** A row whose lease has been ended, and what that did to its parent. */
export type ExpiredTask = StoredTask & { parent?: ParentUpdate }
