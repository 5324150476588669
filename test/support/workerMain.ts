import { setTimeout } from 'node:timers/promises'

import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineTaskHandler, type TaskCancelledError, TaskRunner } from '@furystack/task-runner'
import { createClient } from 'redis'

import { defineRedisTaskRunner } from '../../src/index.js'

/** A worker process for tests; see workerProcess. */
const { url, prefix, concurrency, options, tags, hasBus } = JSON.parse(process.argv[2] ?? '{}') as {
  url: string
  prefix: string
  concurrency: number
  options?: object
  tags?: string[]
  hasBus?: boolean
}

const tell = (message: object): void => {
  process.send?.(message)
}

const handlers = [
  defineTaskHandler({
    type: 'double',
    version: 1,
    handler: async (ctx, payload: number) => {
      tell({ kind: 'start', taskId: ctx.taskId, type: 'double' })
      return Promise.resolve(payload * 2)
    },
  }),
  defineTaskHandler({
    type: 'sleep',
    version: 1,
    handler: async (ctx, ms: number) => {
      tell({ kind: 'start', taskId: ctx.taskId, type: 'sleep' })
      // Holds its slot; the sleep of the context would let go of it.
      await setTimeout(ms, undefined, { signal: ctx.cancellationSignal })
      return process.pid
    },
  }),
  defineTaskHandler({
    type: 'report',
    version: 1,
    progressThrottleMs: 0,
    // Of more than two percentages it may skip some: a report that is being written is followed by the latest.
    handler: async (ctx, percents: [number, number]) => {
      const { cancellationSignal: signal, taskId } = ctx
      signal.addEventListener('abort', () => {
        const { name, reason } = signal.reason as TaskCancelledError
        tell({ kind: 'signal', taskId, name, reason })
      })
      tell({ kind: 'start', taskId, type: 'report' })
      for (const percent of percents) ctx.reportProgress({ percent })
      await setTimeout(600_000, undefined, { signal })
    },
  }),
  defineTaskHandler({
    type: 'crash',
    version: 1,
    handler: async (ctx) => {
      // The message has to be out before the process is gone.
      await new Promise((sent) => process.send?.({ kind: 'start', taskId: ctx.taskId, type: 'crash' }, sent))
      process.kill(process.pid, 'SIGKILL')
    },
  }),
]

const client = createClient({ url })
client.on('error', () => undefined)
await client.connect()
const injector = createInjector()
injector.bind(BlobStore, () => new InMemoryBlobStore())
if (hasBus) {
  injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: 'test', topicPrefix: prefix }))
}
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({
    client,
    serviceName: 'test',
    topicPrefix: prefix,
    capabilityCheck: 'off',
    // What sleeps here is meant to hold its slot.
    parkSleepsAfterMs: Infinity,
    ...options,
  }),
)
const worker = injector
  .get(TaskRunner)
  .registerWorker({ name: 'worker', handlers, concurrency, tags: tags ?? [], compatibleVersions: {} })

process.once('SIGTERM', () => {
  void injector[Symbol.asyncDispose]().then(() => client.close())
  process.disconnect()
})
tell({ kind: 'ready', workerId: worker.workerId })
