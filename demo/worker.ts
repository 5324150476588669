/**
 * A worker process, as a service of yours could be: connect to Redis, bind what the task runner needs, resolve the worker,
 * and let it drain when the process is told to end. What it runs is in `hashFile.ts`.
 */
import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineRedisTaskRunner } from '@furystack/redis-task-runner'
import { defineWorker, TaskRunner, TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { createClient } from 'redis'
import { messageOf } from './errors.js'
import { hashHandlers } from './hashFile.js'
import { CONCURRENCY_LIMITS, SLOTS } from './settings.js'
import { tellParent, tellWhatHappens } from './tellParent.js'

const { REDIS_URL = 'redis://127.0.0.1:6379', TOPIC_PREFIX = '', WORKER_NAME = 'worker' } = process.env

// The runner duplicates this client for its connections. Without a listener an error of it would end the process.
const client = createClient({ url: REDIS_URL })
client.on('error', (error: unknown) => tellParent({ kind: 'trouble', text: messageOf(error) }))
await client.connect()

const injector = createInjector()

// Our handlers return a few numbers and write no blobs. Those that do need a store which all processes share.
injector.bind(BlobStore, () => new InMemoryBlobStore())

// Updates and requests to cancel go over the same Redis to the other processes.
const names = { client, serviceName: WORKER_NAME, topicPrefix: TOPIC_PREFIX }
injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter(names))
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({
    ...names,
    // Holds for the whole fleet, so every process has to be given the same.
    concurrencyLimits: CONCURRENCY_LIMITS,
    drainTimeoutMs: 1_000,
    // The runner would refuse a blob store that ends at the process.
    capabilityCheck: 'off',
  }),
)

const HashWorker = defineWorker({ name: WORKER_NAME, types: hashHandlers, concurrency: SLOTS })

// Only for the display.
tellWhatHappens(injector.get(TaskRunner), injector.get(TaskRunnerTelemetryToken))

let stopping: Promise<void> | undefined

/** Takes no more tasks, waits for those that run (or hands them back), and lets go of everything: then Node ends. */
const stop = async (): Promise<void> => {
  // If Redis is away there may be nobody to hand back to.
  setTimeout(() => process.exit(1), 5_000).unref()
  await injector[Symbol.asyncDispose]()
  await client.close()
  if (process.connected) process.disconnect()
}

for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) {
  process.on(event, () => {
    stopping ??= stop()
  })
}

// Resolving the worker starts it.
const { workerId } = injector.get(HashWorker)
tellParent({ kind: 'ready', workerId })
