import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { HandlerResult } from './handlerResult.js'
import type { RetryPolicy } from './retryPolicy.js'
import type { TaskContext } from './taskContext.js'

/**
 * What `defineTaskHandler` takes.
 *
 * @example
 * const options: DefineTaskHandlerOptions<{ to: string }, boolean> = {
 *   type: 'send-mail',
 *   version: 1,
 *   handler: (_, { to }) => to.includes('@'),
 *   retryPolicy: { maxAttempts: 5, backoff: 'exponential', baseDelayMs: 1_000 },
 * }
 * const handler = defineTaskHandler(options)
 */
export interface DefineTaskHandlerOptions<P, R> {
  /** Non-empty, at most 512 characters. */
  type: string
  /** An integer of at least 1. */
  version: number
  /** Runs the task. What it returns is the result; what it throws is a failure. */
  handler: (ctx: TaskContext<P>, payload: P) => HandlerResult<R>
  /** How often, and after which pause, it is run again. @default DEFAULT_RETRY_POLICY, member by member: no retries */
  retryPolicy?: Partial<RetryPolicy>
  /** What becomes of a task once it is over, unless the submitter says otherwise. @default DEFAULT_RETENTION_POLICY, member by member */
  retentionPolicy?: Partial<TaskRetentionPolicy>
  /** Whether a drain fires the signal of running handlers, so that they hand their task back. @default false */
  cancelOnDrain?: boolean
  /**
   * Milliseconds, an integer from 1 to ten years. A longer time tolerates longer pauses of the event loop; a shorter one
   * brings the task of a dead worker back earlier and costs more heartbeats (one every third of it).
   * @default 60_000
   */
  visibilityTimeoutMs?: number
  /** Milliseconds, at least 0; Infinity writes the first and the last report only. @default 250 */
  progressThrottleMs?: number
  /** Milliseconds, at least 1. After it the attempt has failed with an `AttemptTimeoutError`. @default no limit */
  attemptTimeoutMs?: number
  /**
   * How often a task of this handler may be delivered whose worker dies or stands still each time; an integer of at least
   * 1, or Infinity. Where versions of a type differ, the highest holds for all of them. @default the runner's
   * `maxDeliveries`
   */
  maxDeliveries?: number
}
