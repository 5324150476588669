import type { BlobStore } from '@furystack/blob-store'
import type { CrossNodeBus } from '@furystack/cross-node-bus'
import type { Injector } from '@furystack/inject'

import type { QueueAdapter } from '../queue/queueAdapter.js'
import type { TaskStore } from '../store/taskStore.js'
import type { TaskRunnerTelemetry } from '../telemetry/taskRunnerTelemetry.js'

/**
 * What a runner core works with. It disposes none of it.
 *
 * @example
 * const deps: TaskRunnerCoreDeps = { injector, bus, blobStore, telemetry, store, queueAdapter: adapter }
 */
export interface TaskRunnerCoreDeps {
  /** Given to handlers. */
  readonly injector: Injector
  /** Carries updates and requests to cancel to the other processes. */
  readonly bus: CrossNodeBus
  /** Given to handlers. */
  readonly blobStore: BlobStore
  /** Where rows live. */
  readonly store: TaskStore
  /** Told of what the runner does, and of what goes wrong where no caller hears of it. */
  readonly telemetry: TaskRunnerTelemetry
  /** Brings tasks to workers. */
  readonly queueAdapter: QueueAdapter
}
