import type { BlobStore } from '@furystack/blob-store'
import type { Injector } from '@furystack/inject'

import type { QueueAdapter } from '../queue/queueAdapter.js'
import type { JointSteps } from '../store/jointSteps.js'
import type { TaskStore } from '../store/taskStore.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { TaskRunnerTelemetry } from '../telemetry/taskRunnerTelemetry.js'
import type { Clock } from '../time/clock.js'
import type { TerminalStatus } from '../task/taskStatus.js'
import type { Dispatcher } from './dispatcher.js'
import type { HandlerRegistry } from './handlerRegistry.js'
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
  readonly registry: HandlerRegistry
  /** Cancels the open children of a task that has ended. Reports trouble, never rejects. */
  readonly reapOrphans: (parentId: string, status: TerminalStatus) => Promise<void>
  readonly settings: CoreSettings
  readonly clock: Clock
  readonly report: ReportError
}
