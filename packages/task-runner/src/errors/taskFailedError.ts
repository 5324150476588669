import { printable } from '../argument/printable.js'
import type { TaskError } from '../task/task.js'

/**
 * A task that somebody waited for has failed for good.
 *
 * @example
 * try {
 *   await runner.waitFor(taskId)
 * } catch (error) {
 *   if (error instanceof TaskFailedError) console.log(error.taskId, error.error.name, error.error.message)
 * }
 */
export class TaskFailedError extends Error {
  public override readonly name = 'TaskFailedError'

  constructor(
    /** The task. */
    public readonly taskId: string,
    /** What the last attempt failed with, as the row keeps it. */
    public readonly error: Readonly<TaskError>,
  ) {
    super(`Task ${printable(taskId)} failed: ${printable(`${error.name}: ${error.message}`, 1_000)}`)
  }
}
