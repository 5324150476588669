import type { TaskRunnerCoreOptions } from '../runner/taskRunnerCoreOptions.js'
import type { InProcessQueueAdapterOptions } from './inProcessQueueAdapterOptions.js'

/** How a runner in this process differs from the default. */
export interface InProcessTaskRunnerOptions extends TaskRunnerCoreOptions, InProcessQueueAdapterOptions {}
