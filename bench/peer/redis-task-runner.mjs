// This library as a peer of the measuring programme: the full runner, nothing switched off.
import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import { defineTaskHandler, TaskRunner, TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { createClient } from 'redis'

import { defineRedisTaskRunner, redisQueueAdapter } from '../../dist/index.js'

const require = createRequire(import.meta.url)
const TYPE = 'job'
/** `none`: rows go with the end of their tasks; else the default holds. */
const retention = (keep) =>
  keep === 'none' && {
    retentionPolicy: { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30, keepRowDays: 0 },
  }

/** Lane `n` of `options.lanes`, one by default. */
const typeOf = (n, { lanes = 1 } = {}) => (lanes === 1 ? TYPE : `${TYPE}-${n % lanes}`)

async function start({ host, port }, queue, given = {}) {
  const options = { ...given }
  delete options.lanes
  const client = createClient({ socket: { host, port } })
  client.on('error', () => {})
  await client.connect()
  const injector = createInjector()
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  injector.bind(
    TaskRunner,
    defineRedisTaskRunner({
      client,
      serviceName: 'bench',
      topicPrefix: `{${queue}}/`,
      // One producer and one worker, whose updates nobody outside their process looks at.
      capabilityCheck: 'off',
      ...options,
    }),
  )
  return {
    injector,
    runner: injector.get(TaskRunner),
    close: async () => {
      await injector[Symbol.asyncDispose]()
      await client.close()
    },
  }
}

/**
 * The transport alone: entries without rows, and a core that does nothing but call the handler. A task's id carries what it
 * is about, as nothing else travels with an entry.
 */
const transport = {
  async createProducer({ redis, queue }) {
    const { adapter, close } = await openAdapter(redis, queue)
    const enqueue = (data) => adapter.enqueue({ taskId: JSON.stringify(data), type: TYPE, handlerVersion: 1 })
    return { add: enqueue, addBulk: (list) => Promise.all(list.map(enqueue)), close }
  },

  async createWorker({ redis, queue, concurrency, handler, onCompleted, onError }) {
    const { adapter, close } = await openAdapter(redis, queue)
    adapter.events$.subscribe(({ kind, claim, error }) => {
      if (kind === 'settled') onCompleted(claim.taskId)
      if (kind === 'brokerError') onError(error)
    })
    adapter.subscribe({
      workerId: `worker-${String(process.pid)}`,
      concurrency,
      tags: [],
      types: [TYPE],
      compatibleVersions: { [TYPE]: [1] },
      shouldDrain: () => false,
      onClaim: async ({ taskId }) => {
        await handler(JSON.parse(taskId))
        return { kind: 'success' }
      },
    })
    return { close }
  },
}

async function openAdapter({ host, port }, queue) {
  const client = createClient({ socket: { host, port } })
  client.on('error', () => {})
  await client.connect()
  const adapter = redisQueueAdapter({ client, serviceName: 'bench', topicPrefix: `{${queue}}/` })
  return {
    adapter,
    close: async () => {
      await adapter[Symbol.asyncDispose]()
      await client.close()
    },
  }
}

export default {
  name: 'redis-task-runner',
  variants: { default: {}, transport: { isTransportAlone: true } },
  can: { bulk: true, delay: true, keep: true, recover: true },
  versions: () => ({
    'redis-task-runner': require('../../package.json').version,
    redis: require('redis/package.json').version,
    rxjs: require('rxjs/package.json').version,
  }),

  async createProducer({ redis, queue, options }) {
    if (options.isTransportAlone) return transport.createProducer({ redis, queue })
    const { runner, close } = await start(redis, queue, options)
    let submitted = 0
    const taskOf = (data, { delay, notBefore } = {}) => ({
      type: typeOf(submitted++, options),
      payload: data,
      handlerVersion: 1,
      // The clock of dates has whole milliseconds: rounded down, a task would be due up to one of them early.
      ...(delay && { notBefore: new Date(Math.ceil(performance.timeOrigin + performance.now() + delay)) }),
      ...(notBefore && { notBefore: new Date(notBefore) }),
    })
    return {
      add: (data, how) => runner.submit(taskOf(data, how)),
      addBulk: (list, how) => runner.submitMany(list.map((data) => taskOf(data, how))),
      close,
    }
  },

  async createWorker(how) {
    const { redis, queue, concurrency, keep, options, profile, handler, onCompleted, onError } = how
    if (options.isTransportAlone) return transport.createWorker(how)
    const { injector, runner, close } = await start(redis, queue, {
      ...options,
      ...(profile === 'fast' && { visibilityTimeoutMs: 1_000 }),
    })
    const telemetry = injector.get(TaskRunnerTelemetryToken)
    telemetry.addListener('onTaskCompleted', ({ taskId }) => onCompleted(taskId))
    telemetry.addListener('onTaskFailed', ({ error }) => onError(error))
    telemetry.addListener('onTaskRunnerError', ({ error }) => onError(error))
    runner.registerWorker({
      name: 'bench',
      handlers: Array.from({ length: options.lanes ?? 1 }, (_, n) =>
        defineTaskHandler({
          type: typeOf(n, options),
          version: 1,
          handler: (_ctx, data) => handler(data),
          ...retention(keep),
        }),
      ),
      concurrency,
      tags: [],
      compatibleVersions: {},
    })
    return { close }
  },
}
