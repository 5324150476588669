import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import { defineTaskHandler, TaskRunner } from '@furystack/task-runner'
import { createClient } from 'redis'

import { defineRedisTaskRunner } from '../../src/index.js'

/** A process that works until it is told to leave, and then has to end by itself: nothing here calls `process.exit`. */
const { url, prefix } = JSON.parse(process.argv[2] ?? '{}') as { url: string; prefix: string }

const client = createClient({ url })
client.on('error', () => undefined)
await client.connect()
const injector = createInjector()
injector.bind(BlobStore, () => new InMemoryBlobStore())
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({
    client,
    serviceName: 'leaver',
    topicPrefix: prefix,
    commandDeadlineMs: 300,
    capabilityCheck: 'off',
  }),
)
const runner = injector.get(TaskRunner)
runner.registerWorker({
  name: 'worker',
  handlers: [defineTaskHandler({ type: 'mail', version: 1, handler: () => 'sent' })],
  concurrency: 4,
  tags: [],
  compatibleVersions: {},
})
const { id } = await runner.submit({ type: 'mail', handlerVersion: 1, payload: 1 })
await runner.waitFor(id)

process.once('message', () => {
  process.disconnect()
  // Calls that are under way while the runner is disposed of, and somebody who waits for a task.
  const open = [
    runner.submit({ type: 'mail', handlerVersion: 1, payload: 2 }),
    runner.get(id),
    runner.waitFor('nobody', { timeoutMs: 600_000 }),
  ]
  void Promise.allSettled([...open, injector[Symbol.asyncDispose]()]).then(() => client.destroy())
})
process.send?.('ready')
