import type { Clock } from './clock.js'
import { longTimeout } from './longTimeout.js'

/**
 * The clock and the timers of the platform, as they are at each call: whoever replaces the globals replaces them here.
 *
 * @example
 * const store = new MemoryTaskStore({ now: systemClock.now })
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimer: longTimeout,
  nextTurn: (callback) => void setImmediate(callback),
  random: () => Math.random(),
}
