import type { BlobStore } from '@furystack/blob-store'
import type { CrossNodeBus } from '@furystack/cross-node-bus'
import type { Injector } from '@furystack/inject'

import type { QueueAdapter } from '../queue/queueAdapter.js'
import type { TaskStore } from '../store/taskStore.js'
import type { TaskRunnerTelemetry } from '../telemetry/taskRunnerTelemetry.js'

/** What a runner core works with. It disposes none of it. */
export interface TaskRunnerCoreDeps {
  /** Given to handlers. */
  readonly injector: Injector
  readonly bus: CrossNodeBus
  readonly blobStore: BlobStore
  readonly store: TaskStore
  readonly telemetry: TaskRunnerTelemetry
  readonly queueAdapter: QueueAdapter
}
