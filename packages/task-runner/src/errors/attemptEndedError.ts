import { printable } from '../argument/printable.js'

/**
 * A handler used its context after its run had ended (a promise that nobody waited for, most often).
 *
 * @example
 * import { setTimeout } from 'node:timers/promises'
 * const handler = (ctx: TaskContext<unknown>): void => {
 *   void setTimeout(1_000).then(() => ctx.heartbeat()) // rejects with an AttemptEndedError: nobody waited for it
 * }
 */
export class AttemptEndedError extends Error {
  public override readonly name = 'AttemptEndedError'

  constructor(
    /** The task. */
    public readonly taskId: string,
    /** The attempt that has ended. */
    public readonly attempt: number,
  ) {
    super(`Attempt ${attempt} of task ${printable(taskId)} has ended: its context cannot be used any more`)
  }
}
