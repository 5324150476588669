import type { Task } from '../task/task.js'

/**
 * What a submission is answered with. `isDuplicate` tells that the idempotency key belonged to a task already, which is
 * this one. It is not a part of the row: neither copied nor written as JSON.
 *
 * @example
 * const task: SubmittedTask = await runner.submit({ type: 'send-mail', handlerVersion: 1, payload: {}, idempotencyKey: 'order-7' })
 * if (task.isDuplicate) console.log(`${task.id} was there before`)
 */
export interface SubmittedTask extends Task {
  /** Whether the task was there before. */
  readonly isDuplicate?: boolean
}

/** Notes that a task was there before. */
export const markDuplicate = (task: Task): SubmittedTask => Object.defineProperty(task, 'isDuplicate', { value: true })
