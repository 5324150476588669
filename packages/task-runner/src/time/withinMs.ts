import { longTimeout } from './longTimeout.js'

/** Waits for a promise that never rejects, at most `ms` milliseconds; tells whether it was in time. */
export const withinMs = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const cancel = longTimeout(() => resolve(false), ms)
    void promise.then(() => {
      cancel()
      resolve(true)
    })
  })
