import { S3Client } from '@aws-sdk/client-s3'
import { BlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector, type Injector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineS3BlobStore } from '@furystack/s3-blob-store'
import { TaskRunner, type TaskRunnerTelemetryEvents, TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { createClient } from 'redis'

import { needs } from '../../../examples/support/needs.js'
import { defineRedisTaskRunner } from '../../../src/index.js'

/** What an application may set besides. */
export interface ApplicationSettings {
  /** Has the bus keep the topics of the service to itself, which the documented application does without. @default false */
  readonly hasOwnTopics?: boolean
}

/** One process of a service. */
export interface Application {
  readonly injector: Injector
  readonly runner: TaskRunner
  /** What the runner reported as its own trouble. */
  readonly troubles: Array<TaskRunnerTelemetryEvents['onTaskRunnerError']>
  /** The keys of all blobs that the service has. */
  readonly blobKeys: () => Promise<string[]>
  readonly close: () => Promise<void>
}

/**
 * The documented application, with another name for each service. Nothing but that name, and what is made of it, keeps
 * services on one Redis apart: they have the types of their tasks in common.
 */
export const openApplication = async (
  service: string,
  { hasOwnTopics = false }: ApplicationSettings = {},
): Promise<Application> => {
  needs(process.env, 'REDIS_URL', 'AWS_REGION')
  const client = createClient({ url: process.env.REDIS_URL })
  await client.connect()
  const s3Client = new S3Client({ region: process.env.AWS_REGION })
  const injector = createInjector()
  const topics = hasOwnTopics ? { topicPrefix: `${service}/` } : {}
  injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: service, ...topics }))
  injector.bind(BlobStore, defineS3BlobStore({ client: s3Client, bucket: `${service}-blobs` }))
  injector.bind(
    TaskRunner,
    defineRedisTaskRunner({
      client,
      serviceName: service,
      topicPrefix: `${service}/`,
      visibilityTimeoutMs: 60_000,
      concurrencyLimits: { hold: 1 },
    }),
  )
  const troubles: Array<TaskRunnerTelemetryEvents['onTaskRunnerError']> = []
  injector.get(TaskRunnerTelemetryToken).addListener('onTaskRunnerError', (trouble) => troubles.push(trouble))
  const runner = injector.get(TaskRunner)
  return {
    injector,
    runner,
    troubles,
    blobKeys: async () => {
      // Not by the SDK: this S3 signs what concerns a whole bucket in another way.
      const list = await fetch(`${String(process.env.AWS_ENDPOINT_URL_S3)}/${service}-blobs?list-type=2`)
      return Array.from((await list.text()).matchAll(/<Key>([^<]*)<\/Key>/g), ([, key = '']) => key)
    },
    close: async () => {
      await injector[Symbol.asyncDispose]()
      await client.quit()
      s3Client.destroy()
    },
  }
}
