import { BlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import type { ServiceFactory } from '@furystack/inject'
import { type TaskRunner, TaskRunnerTelemetryToken, TaskStore } from '@furystack/task-runner'

import { resolveQueueOptions } from './redisQueueOptions.js'
import { RedisTaskRunner, type RedisTaskRunnerOptions } from './redisTaskRunner.js'

/**
 * The factory of a task runner on Redis, disposed with its injector. A blob store has to be bound; bus and telemetry have
 * defaults; rows live in the same Redis unless a `TaskStore` is bound.
 *
 * @throws {InvalidOptionError} at the call for an option out of its range; when the token is resolved for a client that
 * is not connected
 *
 * @example
 * injector.bind(BlobStore, defineFileSystemBlobStore({ rootDirectory: '/var/blobs' }))
 * injector.bind(TaskRunner, defineRedisTaskRunner({ client, serviceName: 'svc-a', topicPrefix: 'svc-a/' }))
 * const runner = injector.get(TaskRunner)
 */
export const defineRedisTaskRunner = (options: RedisTaskRunnerOptions): ServiceFactory<TaskRunner> => {
  resolveQueueOptions(options)
  return ({ inject, injector, onDispose }) => {
    const runner = new RedisTaskRunner(
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
}
