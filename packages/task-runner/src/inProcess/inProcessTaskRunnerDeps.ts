import type { TaskRunnerCoreDeps } from '../runner/taskRunnerCoreDeps.js'
import type { TaskStore } from '../store/taskStore.js'

/**
 * What a runner in this process works with.
 *
 * @example
 * const deps: InProcessTaskRunnerDeps = { injector, bus, blobStore, telemetry }
 */
export interface InProcessTaskRunnerDeps extends Omit<TaskRunnerCoreDeps, 'store' | 'queueAdapter'> {
  /** Where rows live; a store that outlives the process has its pending tasks run by the next one. @default memory */
  readonly store?: TaskStore | undefined
}
