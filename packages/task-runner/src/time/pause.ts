import { longTimeout } from './longTimeout.js'

/** Resolves after `ms` milliseconds. The process does not stay alive for it. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    longTimeout(resolve, ms)
  })
