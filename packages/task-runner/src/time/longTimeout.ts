import type { TimerOptions } from './clock.js'

/** The longest delay that a timer of the platform keeps; a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Calls back once, after `delayMs` (0 to infinity; infinity never). Delays beyond the platform's limit of about 24.8
 * days are kept by arming the timer again.
 *
 * @returns a function that cancels it; calling it later, or twice, does nothing.
 *
 * @example
 * const cancel = longTimeout(() => console.log('a month later'), 30 * 86_400_000)
 * cancel()
 */
export const longTimeout = (
  callback: () => void,
  delayMs: number,
  { keepAlive = false }: TimerOptions = {},
): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const arm = (leftMs: number): void => {
    const step = Math.min(leftMs, MAX_TIMER_MS)
    timer = setTimeout(() => (leftMs > step ? arm(leftMs - step) : callback()), step)
    if (!keepAlive) timer.unref()
  }
  if (delayMs !== Infinity) arm(Math.max(0, delayMs))
  return () => clearTimeout(timer)
}
