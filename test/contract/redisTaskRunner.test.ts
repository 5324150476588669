import { type BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { type CrossNodeBus, InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { RedisCrossNodeBus } from '@furystack/redis-cross-node-bus'
import { MemoryTaskStore, TaskRunnerTelemetry, type TaskStore } from '@furystack/task-runner'

import { RedisTaskRunner, type RedisTaskRunnerOptions } from '../../src/index.js'
import { commandNames } from '../support/commandNames.js'
import { documentedRuleOf } from '../support/documentedRule.js'
import { gatedClient } from '../support/gatedClient.js'
import { type Link, overLink } from '../support/link.js'
import { connectMinimalClient } from '../support/minimalUser.js'
import { uniquePrefix } from '../support/redis.js'
import { type RunnersHarness, runnerSuite } from './runnerSuite.js'

const RUNNER = documentedRuleOf('docs/operations.md')
const RUNNER_AND_BUS = documentedRuleOf('docs/operations.md', 'the bus')

/** Each runner has connections of its own, and a bus of its own unless one stands for a bus between processes. */
const makeRunners = async (
  count: number,
  {
    blobStore = new InMemoryBlobStore(),
    link,
    busLink,
    ...more
  }: Partial<RedisTaskRunnerOptions> & { blobStore?: BlobStore; link?: Link; busLink?: Link } = {},
  elsewhere?: { store: TaskStore; bus: CrossNodeBus },
): Promise<RunnersHarness> => {
  const closers: Array<() => void> = []
  const topicPrefix = uniquePrefix('runner')
  const onFinished = (close: () => void): void => void closers.unshift(close)
  const client = await connectMinimalClient(topicPrefix, { onFinished }, elsewhere ? RUNNER : RUNNER_AND_BUS)
  const injector = createInjector()
  const telemetry = new TaskRunnerTelemetry()
  const options = {
    client: link && elsewhere === undefined ? gatedClient(client, link, commandNames()) : client,
    serviceName: 'test',
    topicPrefix,
    capabilityCheck: 'off' as const,
    expiryIntervalMs: 50,
    ...more,
  }
  const store = link && elsewhere ? overLink(elsewhere.store, link) : elsewhere?.store
  const buses = Array.from(
    { length: count },
    (_, index) =>
      elsewhere?.bus ??
      new RedisCrossNodeBus({
        client: busLink && index === 0 ? gatedClient(client, busLink, () => 'bus') : client,
        serviceName: 'test',
        topicPrefix,
      }),
  )
  const runners = buses.map((bus) => {
    const parts = { injector, bus, blobStore, telemetry, store }
    return new RedisTaskRunner(parts, options)
  })
  return {
    runners,
    telemetry,
    dispose: async () => {
      await Promise.all(runners.map((runner) => runner[Symbol.asyncDispose]()))
      for (const bus of buses) await bus[Symbol.asyncDispose]?.()
      await injector[Symbol.asyncDispose]()
      for (const close of closers) close()
    },
  }
}

runnerSuite('RedisTaskRunner', (count, options) => makeRunners(count, options))

// A store of the user's own: row and entry are two steps then.
runnerSuite('RedisTaskRunner with rows elsewhere', (count, options) =>
  makeRunners(count, options, { store: new MemoryTaskStore(), bus: new InProcessCrossNodeBus() }),
)
