import { checkNumber } from '../argument/checkNumber.js'
import { MAX_DELAY_MS } from '../time/maxDelayMs.js'

const BRAND: unique symbol = Symbol.for('@furystack/task-runner/NotNowError') as never

/**
 * Thrown by a handler that cannot do its work yet: the task is given back and runs again after the delay. That is no
 * failure and spends no attempt, however often it happens.
 *
 * @example
 * const response = await ctx.fetch('https://example.org/api')
 * if (response.status === 429) throw new NotNowError(60_000)
 */
export class NotNowError extends Error {
  public override readonly name = 'NotNowError'
  /** Recognised by this mark, so that two copies of the package in one process understand each other. */
  public readonly [BRAND] = true
  /** Milliseconds, from 0 to ten years. */
  public readonly delayMs: number

  constructor(delayMs: number) {
    super(`Not now, but in ${String(delayMs)} ms`)
    this.delayMs = checkNumber('delayMs', delayMs, { min: 0, max: MAX_DELAY_MS })
  }
}
