import { printable } from '../argument/printable.js'

/**
 * A run took longer than the `attemptTimeoutMs` of its handler. The attempt has failed with this error; the handler may
 * still be running, but can change nothing any more.
 *
 * @example
 * const handler = defineTaskHandler({ type: 'crawl', version: 1, attemptTimeoutMs: 60_000, handler: crawl.handler })
 */
export class AttemptTimeoutError extends Error {
  public override readonly name = 'AttemptTimeoutError'

  constructor(
    /** The task. */
    public readonly taskId: string,
    /** The attempt that took too long. */
    public readonly attempt: number,
    /** How long it might take, in milliseconds. */
    public readonly attemptTimeoutMs: number,
  ) {
    super(`Attempt ${attempt} of task ${printable(taskId)} took longer than ${attemptTimeoutMs} ms`)
  }
}
