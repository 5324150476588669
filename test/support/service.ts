import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus, defineInProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector, type Injector, type ServiceFactory } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import {
  type AnyTaskHandlerDescriptor,
  TaskRunner,
  TaskRunnerTelemetryToken,
  type Worker,
} from '@furystack/task-runner'
import { onTestFinished } from 'vitest'

import type { AnyRedisClient, RedisTaskRunner, RedisTaskRunnerOptions } from '../../src/index.js'
import { defineRedisTaskRunner } from '../../src/index.js'
import { connectClient, type TestClient, uniquePrefix } from './redis.js'

/** A service as an application has it: an injector, and the runner bound to it over a client. */
export interface ServiceOnClient {
  readonly injector: Injector
  readonly runner: RedisTaskRunner
  readonly prefix: string
  /** What the runner reported as its own trouble. */
  readonly troubles: Array<{ operation: string; error: unknown }>
  readonly work: (handlers: AnyTaskHandlerDescriptor[], options?: { concurrency?: number; tags?: string[] }) => Worker
  readonly dispose: () => Promise<void>
}

/** The same with the client that was made for it. */
export interface Service extends ServiceOnClient {
  readonly client: TestClient
}

export interface ServiceOptions extends Partial<RedisTaskRunnerOptions> {
  readonly prefix?: string
  readonly url?: string
  readonly major?: 5 | 6
  /** Whether updates and requests to cancel reach other services with the same prefix. */
  readonly hasBus?: boolean
}

/** Starts a service that ends with its test. */
export const startService = async ({
  prefix = uniquePrefix('service'),
  url,
  major,
  hasBus = false,
  ...options
}: ServiceOptions = {}): Promise<Service> => {
  const client = await connectClient({ ...(url && { url }), ...(major && { major }) })
  const bus = hasBus
    ? defineRedisCrossNodeBusAdapter({ client, serviceName: 'test', topicPrefix: prefix })
    : defineInProcessCrossNodeBus()
  return { client, ...serviceOn(client, prefix, options, bus) }
}

/** A service over a client of any kind, which ends with its test. */
export const serviceOn = (
  client: AnyRedisClient,
  topicPrefix: string,
  options: Partial<RedisTaskRunnerOptions> = {},
  bus: ServiceFactory<CrossNodeBus> = defineInProcessCrossNodeBus(),
): ServiceOnClient => {
  const injector = createInjector()
  injector.bind(CrossNodeBus, bus)
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  injector.bind(
    TaskRunner,
    // Several of these share one Redis, mostly with updates that stay in their own process.
    defineRedisTaskRunner({ client, serviceName: 'test', topicPrefix, capabilityCheck: 'off', ...options }),
  )
  const troubles: ServiceOnClient['troubles'] = []
  injector.get(TaskRunnerTelemetryToken).addListener('onTaskRunnerError', (trouble) => troubles.push(trouble))
  const runner = injector.get(TaskRunner) as RedisTaskRunner

  let disposal: Promise<void> | undefined
  const dispose = (): Promise<void> => (disposal ??= injector[Symbol.asyncDispose]())
  onTestFinished(dispose)
  return {
    injector,
    runner,
    prefix: topicPrefix,
    troubles,
    work: (handlers, { concurrency = 4, tags = [] } = {}) =>
      runner.registerWorker({ name: 'worker', handlers, concurrency, tags, compatibleVersions: {} }),
    dispose,
  }
}
