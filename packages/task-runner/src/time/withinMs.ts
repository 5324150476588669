import type { Clock } from './clock.js'

/** Waits for a promise that never rejects, at most `ms` milliseconds; tells whether it was in time. */
export const withinMs = (clock: Clock, promise: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const cancel = clock.setTimer(() => resolve(false), ms)
    void promise.then(() => {
      cancel()
      resolve(true)
    })
  })
