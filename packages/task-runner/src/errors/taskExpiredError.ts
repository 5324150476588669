/**
 * A task was not begun before its `startBefore`. It has failed for good with this error, without having been run.
 *
 * @example
 * const task = await runner.get(taskId)
 * if (task?.error?.name === 'TaskExpiredError') console.log(`too late since ${task.startBefore}`)
 */
export class TaskExpiredError extends Error {
  public override readonly name = 'TaskExpiredError'

  constructor(
    /** The task. */
    public readonly taskId: string,
  ) {
    super(`Task ${taskId} had not been begun when its time to start was over`)
  }
}
