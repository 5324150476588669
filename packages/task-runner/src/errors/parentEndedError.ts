import type { TaskStatus } from '../task/taskStatus.js'

/**
 * A task was to belong to another one that has ended, or has been told to cancel. Nothing was written.
 *
 * @example
 * await runner.cancel(parent.id)
 * await runner.submit({ type: 'render', handlerVersion: 1, payload: {}, parentTaskId: parent.id }) // rejects with a ParentEndedError
 */
export class ParentEndedError extends Error {
  public override readonly name = 'ParentEndedError'

  constructor(
    /** The parent that is over. */
    public readonly parentTaskId: string,
    /** What the parent is. */
    public readonly status: TaskStatus,
  ) {
    super(`Task ${parentTaskId} is ${status}, so no further task can belong to it`)
  }
}
