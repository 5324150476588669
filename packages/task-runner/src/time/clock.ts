/**
 * How a timer differs from the default.
 *
 * @example
 * const options: TimerOptions = { keepAlive: true }
 * const cancel = clock.setTimer(() => console.log('a minute later'), 60_000, options)
 */
export interface TimerOptions {
  /** Whether the process stays alive for it. @default false */
  keepAlive?: boolean
  /** Whether it only looks whether there is something to do: time that is moved by hand need not stop for it. @default false */
  isBackground?: boolean
}

/**
 * Where a runner takes time from, and chance. One that is moved by hand, as tests want it, comes with
 * `@furystack/task-runner/testing`.
 *
 * @example
 * const cancel = clock.setTimer(() => console.log('an hour later'), 3_600_000)
 * cancel()
 */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds since some moment or other; never set, so that periods can be measured with it. */
  elapsed(): number
  /**
   * Calls back once, after `delayMs` (0 to infinity; infinity never).
   *
   * @returns a function that cancels it; calling it later, or twice, does nothing.
   */
  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): () => void
  /** Calls back when whatever can run now has had its turn. */
  nextTurn(callback: () => void): void
  /** From 0 up to 1, as `Math.random`. */
  random(): number
}
