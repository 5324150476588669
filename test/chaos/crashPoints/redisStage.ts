import { InMemoryBlobStore } from '@furystack/blob-store'
import { InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { InProcessQueueAdapter, TaskRunnerCore, TaskRunnerTelemetry } from '@furystack/task-runner'

import { type RedisClient, RedisTaskRunner } from '../../../src/index.js'
import { keys } from '../../../src/keys/keys.js'
import { redisTaskStore } from '../../../src/redis/redisTaskStore.js'
import { connectTo } from '../../support/connectTo.js'
import type { Log, Scenario, Stage } from './scenario.js'

/**
 * Where rows and queue lie: together, so that each step is one script; both in Redis but apart, so that each step is two,
 * as with rows in a database; or the queue in the process, and gone with it.
 */
export const REDIS_STACKS = ['rows and queue as one', 'rows and queue apart', 'rows only'] as const

export type RedisStack = (typeof REDIS_STACKS)[number]

/** What a process is started with. */
export interface RedisStageOptions {
  readonly client: RedisClient
  readonly prefix: string
  readonly stack: RedisStack
  readonly scenario: Pick<Scenario, 'handlers'>
  readonly log: Log
  readonly isFirst: boolean
  readonly origin: string
}

/** Short to wait for, and longer than a busy machine stands still. */
const VISIBILITY_MS = 600

/** Starts a process over Redis, or what would be one if the client's connections were its own. */
export const redisStage = (options: RedisStageOptions): Stage => {
  const { client, prefix, stack, scenario, log, isFirst, origin } = options
  const deps = {
    injector: createInjector(),
    bus: new InProcessCrossNodeBus(),
    blobStore: new InMemoryBlobStore(),
    telemetry: new TaskRunnerTelemetry(),
  }
  const settings = {
    capabilityCheck: 'off',
    parkSleepsAfterMs: 50,
    reconcilerIntervalMs: 300,
    sweepIntervalMs: 200,
    maintenanceIntervalMs: 400,
    abortTimeoutMs: 1_000,
  } as const
  const open = (): { runner: TaskRunnerCore; close: () => Promise<void> } => {
    const connection = stack === 'rows and queue as one' ? undefined : connectTo(client)
    const store = connection && redisTaskStore({ connection, keys: keys(prefix) })
    const queueAdapter = stack === 'rows only' ? new InProcessQueueAdapter() : undefined
    const runner =
      queueAdapter && store
        ? new TaskRunnerCore({ ...deps, store, queueAdapter }, settings)
        : new RedisTaskRunner(
            { ...deps, store },
            {
              ...settings,
              client,
              serviceName: 'crash',
              topicPrefix: prefix,
              commandDeadlineMs: 2_000,
              blockTimeoutMs: 100,
              schedulerIntervalMs: 50,
              retryBackoffMs: 20,
              concurrencyLimits: { job: 2, child: 2 },
            },
          )
    const close = async (): Promise<void> => {
      await runner[Symbol.asyncDispose]()
      queueAdapter?.[Symbol.dispose]()
      await connection?.[Symbol.asyncDispose]()
    }
    return { runner, close }
  }
  const { runner, close } = open()
  let closing: Promise<void> | undefined
  const stage: Stage = {
    runner,
    log,
    isFirst,
    origin,
    visibilityMs: VISIBILITY_MS,
    work: (concurrency = 1) =>
      runner.registerWorker({
        name: 'worker',
        handlers: scenario.handlers(stage),
        concurrency,
        tags: [],
        compatibleVersions: {},
      }),
    dispose: () => (closing ??= close()),
  }
  return stage
}
