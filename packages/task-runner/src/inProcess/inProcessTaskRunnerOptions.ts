import type { TaskRunnerCoreOptions } from '../runner/taskRunnerCoreOptions.js'
import type { InProcessQueueAdapterOptions } from './inProcessQueueAdapterOptions.js'

/**
 * How a runner in this process differs from the default.
 *
 * @example
 * const options: InProcessTaskRunnerOptions = { concurrencyLimits: { 'send-mail': 2 }, drainTimeoutMs: 5_000 }
 */
export interface InProcessTaskRunnerOptions extends TaskRunnerCoreOptions, InProcessQueueAdapterOptions {}
