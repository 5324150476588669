import type { Task } from '../task/task.js'
import type { ParentUpdate } from './parentUpdate.js'

/** A task with the counters that the core decides by. */
export interface StoredTask {
  task: Task
  /** Attempts that ended in failure. The retry policy counts these. */
  failures: number
  /** Attempts whose lease ended before they did. Counted apart from failures. */
  losses: number
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
