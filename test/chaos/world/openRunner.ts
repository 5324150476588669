import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { TaskRunner, TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { createClient, createCluster, createSentinel } from 'redis'

import type { AnyRedisClient, RedisTaskRunner, RedisTaskRunnerOptions } from '../../../src/index.js'
import { defineRedisTaskRunner } from '../../../src/index.js'
import { until } from '../../support/until.js'
import { RUNNER_OPTIONS } from '../run/settings.js'
import type { Way } from './way.js'

/** A runner as a service has it, and all that it stands on. */
export interface OpenRunner {
  readonly runner: RedisTaskRunner
  readonly dispose: () => Promise<void>
}

/** Connects, and binds a runner for the keys of one chaos run; set as those are, unless it is told otherwise. */
export const openRunner = async (
  way: Way,
  prefix: string,
  serviceName: string,
  settings: Partial<RedisTaskRunnerOptions> = RUNNER_OPTIONS,
): Promise<OpenRunner> => {
  const injector = createInjector()
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  const { client, close } = await connect(way)
  if (way.kind === 'single') {
    const plain = client as ReturnType<typeof createClient>
    injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client: plain, serviceName, topicPrefix: prefix }))
  }
  const options = { client, serviceName, topicPrefix: prefix, capabilityCheck: 'off' as const, ...settings }
  injector.bind(TaskRunner, defineRedisTaskRunner(options))
  // Trouble is what a chaos run is made of; what comes of it is seen by the handlers and the rows.
  injector.get(TaskRunnerTelemetryToken).addListener('onTaskRunnerError', () => undefined)
  return {
    runner: injector.get(TaskRunner) as RedisTaskRunner,
    dispose: async () => {
      await injector[Symbol.asyncDispose]()
      close()
    },
  }
}

const connect = async (way: Way): Promise<{ client: AnyRedisClient; close: () => void }> => {
  const client = clientOf(way)
  // Without a listener an error would end the process.
  client.on('error', () => undefined)
  // A process that is born during a fault waits for its end, as those do that some supervisor starts again.
  await until(() => client.connect().then(() => true), { timeoutMs: 60_000, intervalMs: 200, description: 'connected' })
  return { client, close: () => void client.destroy() }
}

const clientOf = (way: Way) => {
  switch (way.kind) {
    case 'single':
      return createClient({ url: way.url })
    case 'sentinel':
      return createSentinel({ name: way.name, sentinelRootNodes: [{ host: way.host, port: way.port }] })
    case 'cluster':
      return createCluster({ rootNodes: way.urls.map((url) => ({ url })) })
  }
}
