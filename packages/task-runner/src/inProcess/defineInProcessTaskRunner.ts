import { BlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import type { ServiceFactory } from '@furystack/inject'

import type { TaskRunner } from '../runner/taskRunner.js'
import { TaskStore } from '../store/taskStore.js'
import { TaskRunnerTelemetryToken } from '../telemetry/taskRunnerTelemetryToken.js'
import { InProcessTaskRunner } from './inProcessTaskRunner.js'
import type { InProcessTaskRunnerOptions } from './inProcessTaskRunnerOptions.js'

/**
 * The factory of a task runner in this process, disposed with its injector. A blob store has to be bound; bus, telemetry
 * and task store have defaults.
 *
 * @example
 * import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
 * injector.bind(BlobStore, () => new InMemoryBlobStore())
 * injector.bind(TaskRunner, defineInProcessTaskRunner())
 */
export const defineInProcessTaskRunner =
  (options: InProcessTaskRunnerOptions = {}): ServiceFactory<TaskRunner> =>
  ({ inject, injector, onDispose }) => {
    const runner = new InProcessTaskRunner(
      {
        injector,
        bus: inject(CrossNodeBus),
        blobStore: inject(BlobStore),
        telemetry: inject(TaskRunnerTelemetryToken),
        store: inject(TaskStore),
      },
      options,
    )
    onDispose(() => runner[Symbol.asyncDispose]())
    return runner
  }
