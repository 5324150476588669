import { BlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import type { ServiceFactory } from '@furystack/inject'
import { type TaskRunner, TaskRunnerTelemetryToken, TaskStore } from '@furystack/task-runner'

import { resolveQueueOptions } from './redisQueueOptions.js'
import { RedisTaskRunner, type RedisTaskRunnerOptions } from './redisTaskRunner.js'

/**
 * The factory of a task runner on Redis, disposed with its injector. A blob store and a bus have to be bound that other
 * nodes reach, unless `capabilityCheck` is `'off'`; telemetry has a default; rows live in the same Redis unless a
 * `TaskStore` is bound.
 *
 * @throws {InvalidOptionError} at the call for an option out of its range; when the token is resolved for a client that
 * is not connected
 *
 * @example
 * import { S3Client } from '@aws-sdk/client-s3'
 * import { BlobStore } from '@furystack/blob-store'
 * import { defineS3BlobStore } from '@furystack/s3-blob-store'
 * const s3 = new S3Client({ region: 'eu-central-1', requestChecksumCalculation: 'WHEN_REQUIRED' })
 * injector.bind(BlobStore, defineS3BlobStore({ client: s3, bucket: 'svc-a' }))
 * const shared = { client, serviceName: 'svc-a', topicPrefix: 'svc-a/' }
 * injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter(shared))
 * injector.bind(TaskRunner, defineRedisTaskRunner(shared))
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
