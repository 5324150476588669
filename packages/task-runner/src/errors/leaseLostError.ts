import { printable } from '../argument/printable.js'

const WORDS = {
  taken: 'another worker owns the task now, or its row has moved on',
  broker: 'the queue has given the claim to somebody else',
  expired: 'the lease could not be extended before it ran out',
} as const

/**
 * Why a run's signal fired when the run lost its task. Whatever the handler does from here on changes nothing in the
 * task, so it should stop.
 *
 * @example
 * ctx.cancellationSignal.addEventListener('abort', () => {
 *   if (ctx.cancellationSignal.reason instanceof LeaseLostError) console.warn('somebody else has the task')
 * })
 */
export class LeaseLostError extends Error {
  public override readonly name = 'LeaseLostError'

  constructor(
    /** The task that belongs to somebody else by now. */
    public readonly taskId: string,
    /** The attempt that lost it. */
    public readonly attempt: number,
    /** `taken`: the store said so; `broker`: the queue did; `expired`: it could not be extended in time. */
    public readonly how: 'taken' | 'broker' | 'expired',
    options?: ErrorOptions,
  ) {
    super(`Attempt ${attempt} of task ${printable(taskId)} lost its lease: ${WORDS[how]}`, options)
  }
}
