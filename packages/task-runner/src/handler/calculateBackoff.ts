import type { RetryPolicy } from './retryPolicy.js'

/**
 * One hour: longer pauses help nobody, and a doubling pause would leave the range of dates.
 *
 * @example
 * Math.min(MAX_BACKOFF_MS, 2 ** 40)
 */
export const MAX_BACKOFF_MS = 3_600_000

const grow = ({ backoff, baseDelayMs }: Readonly<RetryPolicy>, attempt: number): number => {
  if (backoff === 'none' || baseDelayMs === 0) return 0
  return baseDelayMs * (backoff === 'linear' ? attempt : 2 ** (attempt - 1))
}

/**
 * The pause in whole milliseconds before a task is run again; from 0 to one hour. A policy whose `backoff` is a function
 * counts as `exponential` here.
 *
 * @param attempt the failures so far, from 1.
 * @param random answers numbers from 0 up to 1; for tests.
 *
 * @example
 * calculateBackoff({ maxAttempts: 5, backoff: 'exponential', baseDelayMs: 100, jitter: 0 }, 3) // 400
 */
export const calculateBackoff = (policy: Readonly<RetryPolicy>, attempt: number, random = Math.random): number => {
  const pause = Math.min(grow(policy, attempt), MAX_BACKOFF_MS)
  const deviation = policy.jitter === 0 ? 0 : (random() * 2 - 1) * pause * policy.jitter
  return Math.min(MAX_BACKOFF_MS, Math.max(0, Math.round(pause + deviation)))
}
