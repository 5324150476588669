import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { TaskRunner } from '@furystack/task-runner'

import { defineRedisTaskRunner } from '../../../src/index.js'
import { readProcess } from './readings.js'
import { connectSoakClient } from './soakClient.js'
import { soakHandlers } from './soakHandlers.js'
import type { SoakService } from './soakService.js'

/** A worker process of a soak: works until SIGTERM, and tells what it holds when asked. */
const { url, topicPrefix, options, bus } = JSON.parse(process.argv[2] ?? '{}') as SoakService & { url: string }

const client = await connectSoakClient(url)
const injector = createInjector()
injector.bind(BlobStore, () => new InMemoryBlobStore())
injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: 'soak', topicPrefix, ...bus }))
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({ client, serviceName: 'soak', topicPrefix, capabilityCheck: 'off', ...options }),
)
const work = () =>
  injector
    .get(TaskRunner)
    .registerWorker({ name: 'soak', handlers: [...soakHandlers], concurrency: 16, tags: [], compatibleVersions: {} })
let worker = work()

process.on('message', (request: 'read' | 'replace') => {
  const answer = async (): Promise<unknown> => {
    if (request === 'read') return readProcess(client)
    // A worker that ends beside one that begins, in one process.
    const former = worker
    worker = work()
    await former[Symbol.asyncDispose]()
    return 'replaced'
  }
  answer().then(
    (reading) => process.send?.(reading),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.once('SIGTERM', () => {
  void injector[Symbol.asyncDispose]().then(async () => {
    await client.close()
    process.disconnect()
  })
})
process.send?.('ready')
