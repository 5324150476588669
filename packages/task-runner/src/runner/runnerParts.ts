import type { BlobStore } from '@furystack/blob-store'
import type { Injector } from '@furystack/inject'

import type { QueueAdapter } from '../queue/queueAdapter.js'
import type { JointSteps } from '../store/jointSteps.js'
import type { TaskStore } from '../store/taskStore.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { TaskRunnerTelemetry } from '../telemetry/taskRunnerTelemetry.js'
import type { Dispatcher } from './dispatcher.js'
import type { CoreSettings } from './taskRunnerCoreOptions.js'
import type { Updates } from './updates.js'

/** What the collaborators of one runner share. */
export interface RunnerParts {
  readonly injector: Injector
  readonly blobStore: BlobStore
  readonly store: TaskStore
  readonly adapter: QueueAdapter
  /** Present where adapter and store take their steps as one. */
  readonly joint: JointSteps | undefined
  readonly telemetry: TaskRunnerTelemetry
  readonly updates: Updates
  readonly dispatcher: Dispatcher
  readonly settings: CoreSettings
  readonly report: ReportError
}
