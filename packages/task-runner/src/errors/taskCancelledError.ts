import { printable } from '../argument/printable.js'

/**
 * Why a run's signal fired when somebody cancelled its task, or when a drain asked a `cancelOnDrain` handler to stop
 * (the reason is `'drain'` then, and the run is handed back instead of cancelled).
 *
 * @example
 * await ctx.sleep(60_000) // rejects with a TaskCancelledError as soon as the task is cancelled
 */
export class TaskCancelledError extends Error {
  public override readonly name = 'TaskCancelledError'

  constructor(
    /** The task. */
    public readonly taskId: string,
    /** What the canceller gave as its reason. */
    public readonly reason?: string,
  ) {
    super(
      reason === undefined
        ? `Task ${printable(taskId)} was cancelled`
        : `Task ${printable(taskId)} was cancelled: ${printable(reason)}`,
    )
  }
}
