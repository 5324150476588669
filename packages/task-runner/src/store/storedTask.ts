import type { Task } from '../task/task.js'

/** A task with the counters that the core decides by. */
export interface StoredTask {
  task: Task
  /** Attempts that ended in failure. The retry policy counts these. */
  failures: number
  /** Attempts whose lease ended before they did. Counted apart from failures. */
  losses: number
  /** What the canceller gave as its reason, while `cancelling` and after. */
  cancelReason?: string
}
