import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { HandlerResult } from './handlerResult.js'
import type { RetryPolicy } from './retryPolicy.js'
import type { TaskContext } from './taskContext.js'

/**
 * A handler with everything that a runner has to know about it; made by `defineTaskHandler`.
 *
 * @example
 * const descriptor: TaskHandlerDescriptor<{ to: string }, boolean> = defineTaskHandler({
 *   type: 'send-mail',
 *   version: 1,
 *   handler: (_, { to }: { to: string }) => to.includes('@'),
 * })
 */
export interface TaskHandlerDescriptor<P, R> {
  /** The type of the tasks that it runs. */
  readonly type: string
  /** A runner keeps handlers apart by type and version. */
  readonly version: number
  /** Runs a task. */
  readonly handler: (ctx: TaskContext<P>, payload: P) => HandlerResult<R>
  /** How often, and after which pause, a failed task is run again. */
  readonly retryPolicy: Readonly<RetryPolicy>
  /** For tasks that are submitted without one in a process where this handler is registered. */
  readonly retentionPolicy: Readonly<TaskRetentionPolicy>
  /** Whether a drain fires the signal of running handlers, so that they hand their task back. */
  readonly cancelOnDrain: boolean
  /** How long a run that stops giving signs of life keeps its task, in milliseconds. */
  readonly visibilityTimeoutMs: number
  /** Whether that was asked for, and is not just the default: then it goes before the queue's own setting. */
  readonly declaresVisibility?: boolean
  /** The shortest time between two stored progress reports, in milliseconds. */
  readonly progressThrottleMs: number
  /** How long one run may take, in milliseconds; without it there is no limit. */
  readonly attemptTimeoutMs?: number
  /** How often its tasks may be delivered without coming to an end; without it the runner's limit holds. */
  readonly maxDeliveries?: number
}
