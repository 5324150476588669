import { InMemoryBlobStore } from '@furystack/blob-store'
import { InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { MemoryTaskStore, TaskRunnerTelemetry, type TaskStore } from '@furystack/task-runner'

import { RedisTaskRunner, type RedisTaskRunnerOptions } from '../../src/index.js'
import { connectMinimalClient } from '../support/minimalUser.js'
import { uniquePrefix } from '../support/redis.js'
import { type RunnersHarness, runnerSuite } from './runnerSuite.js'

/** Each runner has connections of its own; one bus between them stands for a bus between processes. */
const makeRunners = async (
  count: number,
  more: Partial<RedisTaskRunnerOptions> = {},
  store?: TaskStore,
): Promise<RunnersHarness> => {
  const closers: Array<() => void> = []
  const topicPrefix = uniquePrefix('runner')
  const client = await connectMinimalClient(topicPrefix, { onFinished: (close) => closers.unshift(close) })
  const injector = createInjector()
  const bus = new InProcessCrossNodeBus()
  const parts = { injector, bus, blobStore: new InMemoryBlobStore(), telemetry: new TaskRunnerTelemetry(), store }
  const options = {
    client,
    serviceName: 'test',
    topicPrefix,
    capabilityCheck: 'off' as const,
    expiryIntervalMs: 50,
    ...more,
  }
  const runners = Array.from({ length: count }, () => new RedisTaskRunner(parts, options))
  return {
    runners,
    dispose: async () => {
      await Promise.all(runners.map((runner) => runner[Symbol.asyncDispose]()))
      bus[Symbol.dispose]()
      await injector[Symbol.asyncDispose]()
      for (const close of closers) close()
    },
  }
}

runnerSuite('RedisTaskRunner', (count, options) => makeRunners(count, options))

// A store of the user's own: row and entry are two steps then.
runnerSuite('RedisTaskRunner with rows elsewhere', (count, options) =>
  makeRunners(count, options, new MemoryTaskStore()),
)
