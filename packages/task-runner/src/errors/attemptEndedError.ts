import { printable } from '../argument/printable.js'

/**
 * A handler used its context after its run had ended (a promise that nobody waited for, most often).
 *
 * @example
 * handler: async (ctx) => {
 *   void later().then(() => ctx.heartbeat()) // rejects with an AttemptEndedError
 * }
 */
export class AttemptEndedError extends Error {
  public override readonly name = 'AttemptEndedError'

  constructor(
    public readonly taskId: string,
    public readonly attempt: number,
  ) {
    super(`Attempt ${attempt} of task ${printable(taskId)} has ended: its context cannot be used any more`)
  }
}
