import { printable } from '../argument/printable.js'
import type { TaskStatus } from '../task/taskStatus.js'

/**
 * A task had not ended when the time of whoever waited for it was over. The task itself goes on.
 *
 * @example
 * await runner.waitFor(taskId, { timeoutMs: 1_000 }) // rejects with a WaitTimeoutError after a second
 */
export class WaitTimeoutError extends Error {
  public override readonly name = 'WaitTimeoutError'

  constructor(
    /** The task that was waited for. */
    public readonly taskId: string,
    /** For how long, in milliseconds. */
    public readonly timeoutMs: number,
    /** The last status that was seen, if any was. */
    public readonly status?: TaskStatus,
  ) {
    super(`Task ${printable(taskId)} had not ended after ${timeoutMs} ms: it was ${status ?? 'not found yet'}`)
  }
}
