import { printable } from '../argument/printable.js'
import type { TaskStatus } from '../task/taskStatus.js'

/**
 * A task is not in the status that an operation needs.
 *
 * @example
 * await runner.start(taskId)
 * await runner.start(taskId) // rejects with an InvalidTaskStateError: it is no draft any more
 */
export class InvalidTaskStateError extends Error {
  public override readonly name = 'InvalidTaskStateError'

  constructor(
    /** The task. */
    public readonly taskId: string,
    /** What it is. */
    public readonly status: TaskStatus,
    /** What it would have to be. */
    public readonly expected: TaskStatus,
  ) {
    super(`Task ${printable(taskId)} is ${status}, not ${expected}`)
  }
}
