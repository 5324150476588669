import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { HandlerResult } from './handlerResult.js'
import type { RetryPolicy } from './retryPolicy.js'
import type { TaskContext } from './taskContext.js'

/** What `defineTaskHandler` takes. */
export interface DefineTaskHandlerOptions<P, R> {
  /** Non-empty, at most 512 characters. */
  type: string
  /** An integer of at least 1. */
  version: number
  handler: (ctx: TaskContext<P>, payload: P) => HandlerResult<R>
  /** @default DEFAULT_RETRY_POLICY, member by member: no retries */
  retryPolicy?: Partial<RetryPolicy>
  /** @default DEFAULT_RETENTION_POLICY, member by member */
  retentionPolicy?: Partial<TaskRetentionPolicy>
  /** @default false */
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
