import { BlobStore } from '@furystack/blob-store'
import { defineService, type Token } from '@furystack/inject'

import { storeOf } from '../runner/storeOf.js'
import { TaskRunner } from '../runner/taskRunner.js'
import { TaskRunnerTelemetryToken } from '../telemetry/taskRunnerTelemetryToken.js'
import { TaskBlobSweeper, type TaskBlobSweeperOptions } from './taskBlobSweeper.js'

/**
 * Defines a sweeper of blobs as a service: resolving the token starts it, over the store of the injector's `TaskRunner` and
 * its `BlobStore`, and disposing the injector ends it. Each call makes a token of its own.
 *
 * @example
 * const BlobSweeper = defineTaskBlobSweeper({ scanIntervalMs: 60_000 })
 * injector.get(BlobSweeper)
 */
export const defineTaskBlobSweeper = (options: TaskBlobSweeperOptions = {}): Token<TaskBlobSweeper, 'singleton'> =>
  defineService({
    name: 'furystack/task-runner/TaskBlobSweeper',
    lifetime: 'singleton',
    factory: ({ inject, onDispose }) => {
      const deps = {
        store: storeOf(inject(TaskRunner)),
        blobStore: inject(BlobStore),
        telemetry: inject(TaskRunnerTelemetryToken),
      }
      const sweeper = new TaskBlobSweeper(deps, options)
      onDispose(() => sweeper[Symbol.asyncDispose]())
      return sweeper
    },
  })
