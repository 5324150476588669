import type { Clock } from './clock.js'

/** Resolves after `ms` milliseconds. The process does not stay alive for it. */
export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.setTimer(resolve, ms)
  })
