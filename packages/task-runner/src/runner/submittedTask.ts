import type { Task } from '../task/task.js'

/**
 * What a submission is answered with. `isDuplicate` tells that the idempotency key belonged to a task already, which is
 * this one. It is not a part of the row: neither copied nor written as JSON.
 */
export interface SubmittedTask extends Task {
  readonly isDuplicate?: boolean
}

/** Notes that a task was there before. */
export const markDuplicate = (task: Task): SubmittedTask => Object.defineProperty(task, 'isDuplicate', { value: true })
