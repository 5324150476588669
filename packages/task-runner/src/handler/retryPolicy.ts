import type { BackoffFunction } from './backoffFunction.js'

/**
 * How often, and after which pause, a failed task is run again.
 *
 * @example
 * const policy: RetryPolicy = { maxAttempts: 5, backoff: 'exponential', baseDelayMs: 1_000, jitter: 0.2 }
 */
export interface RetryPolicy {
  /** Failures after which the task has failed for good; an integer of at least 1. Only failures count, not runs. */
  maxAttempts: number
  /** How the pause grows with the failures: not at all (there is none), by the base, doubling, or as a function says. */
  backoff: 'exponential' | 'linear' | 'none' | BackoffFunction
  /** Milliseconds, at least 0. */
  baseDelayMs: number
  /** Share of the pause by which it may deviate, up or down; 0 to 1. What a function says is kept as it is. */
  jitter: number
}

/**
 * Do not retry.
 *
 * @example
 * const policy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 3 }
 */
export const DEFAULT_RETRY_POLICY: Readonly<RetryPolicy> = Object.freeze({
  maxAttempts: 1,
  backoff: 'none',
  baseDelayMs: 0,
  jitter: 0,
})
