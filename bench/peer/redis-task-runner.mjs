// This library as a peer of the measuring programme: the full runner, nothing switched off.
import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import { defineTaskHandler, TaskRunner, TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { createRequire } from 'node:module'
import { createClient } from 'redis'

import { defineRedisTaskRunner } from '../../dist/index.js'

const require = createRequire(import.meta.url)
const TYPE = 'job'
/** `none`: rows go with the end of their tasks; else the default holds. */
const retention = (keep) =>
  keep === 'none' && {
    retentionPolicy: { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30, keepRowDays: 0 },
  }

async function start({ host, port }, queue, options = {}) {
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

export default {
  name: 'redis-task-runner',
  variants: { default: {} },
  can: { bulk: true, delay: true, keep: true, recover: true },
  versions: () => ({
    'redis-task-runner': require('../../package.json').version,
    redis: require('redis/package.json').version,
    rxjs: require('rxjs/package.json').version,
  }),

  async createProducer({ redis, queue, options }) {
    const { runner, close } = await start(redis, queue, options)
    const taskOf = (data, { delay } = {}) => ({
      type: TYPE,
      payload: data,
      handlerVersion: 1,
      ...(delay && { notBefore: new Date(Date.now() + delay) }),
    })
    return {
      add: (data, how) => runner.submit(taskOf(data, how)),
      addBulk: (list) => runner.submitMany(list.map((data) => taskOf(data))),
      close,
    }
  },

  async createWorker({ redis, queue, concurrency, keep, options, profile, handler, onCompleted, onError }) {
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
      handlers: [
        defineTaskHandler({ type: TYPE, version: 1, handler: (_ctx, data) => handler(data), ...retention(keep) }),
      ],
      concurrency,
      tags: [],
      compatibleVersions: {},
    })
    return { close }
  },
}
