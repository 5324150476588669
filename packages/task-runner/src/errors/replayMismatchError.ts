import { printable } from '../argument/printable.js'
import { NonRetryableError } from './nonRetryableError.js'

/**
 * A handler that was run again did not take the steps that its earlier run recorded, most often because its code has
 * changed in between. The task has failed for good: to go on would repeat some steps and lose others.
 *
 * @example
 * const task = await runner.get(taskId)
 * if (task?.error?.name === 'ReplayMismatchError') await runner.deadLetters.resend(taskId, { fromScratch: true })
 */
export class ReplayMismatchError extends NonRetryableError {
  public override readonly name = 'ReplayMismatchError'

  constructor(
    /** The task whose handler asked for something else. */
    public readonly taskId: string,
    /** Number of the recorded step, from 0. */
    public readonly stepIndex: number,
    /** The recorded step. */
    public readonly expected: string,
    /** What the handler did instead. */
    public readonly found: string,
  ) {
    super(
      `Step ${stepIndex} of task ${printable(taskId)} was recorded as "${printable(expected)}", ` +
        `but its handler went on with "${printable(found)}"`,
    )
  }
}
