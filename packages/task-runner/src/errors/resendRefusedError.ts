import { printable } from '../argument/printable.js'

/**
 * Why a dead letter was not sent again; see `ResendRefusedError`.
 *
 * @example
 * const isFinal = (refusal: ResendRefusal): boolean => refusal !== 'key-taken'
 */
export type ResendRefusal = 'parent-ended' | 'key-taken' | 'entry-cut'

const WHY: Readonly<Record<ResendRefusal, (by: string | undefined) => string>> = {
  'parent-ended': (by) => `its parent ${by ?? ''} is over, so nobody waits for it`,
  'key-taken': (by) => `its idempotency key belongs to task ${by ?? ''} by now`,
  'entry-cut': () => 'it was too large to be kept whole',
}

/**
 * A dead letter cannot be sent again; it is one still.
 *
 * @example
 * try {
 *   await runner.deadLetters.resend(taskId)
 * } catch (error) {
 *   if (error instanceof ResendRefusedError && error.refusal === 'key-taken') console.log(`see ${error.by}`)
 * }
 */
export class ResendRefusedError extends Error {
  public override readonly name = 'ResendRefusedError'

  constructor(
    /** The dead letter. */
    public readonly id: string,
    /** Why. */
    public readonly refusal: ResendRefusal,
    /** The parent, or the task that has the key. */
    public readonly by?: string,
  ) {
    super(`Dead letter ${printable(id)} cannot be sent again: ${WHY[refusal](by)}`)
  }
}
