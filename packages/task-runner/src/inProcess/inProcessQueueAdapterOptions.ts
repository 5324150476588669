import type { Clock } from '../time/clock.js'

/**
 * How a queue in this process differs from the default.
 *
 * @example
 * const options: InProcessQueueAdapterOptions = { concurrencyLimits: { 'send-mail': 2 }, idempotencyTtlSec: 3_600 }
 */
export interface InProcessQueueAdapterOptions {
  /** Claims of a type that are open at the same time, at most, over all workers; integers of at least 1. @default {} */
  concurrencyLimits?: Record<string, number>
  /**
   * How long an idempotency key belongs to its task in any case, from its submission and in seconds, at least 0 or
   * Infinity. Beyond that it does as long as the task is not over. @default 86_400
   */
  idempotencyTtlSec?: number
  /** Where time comes from. @default the system's */
  clock?: Clock
}
