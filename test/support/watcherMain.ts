import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { TaskRunner } from '@furystack/task-runner'
import { createClient } from 'redis'

import { defineRedisTaskRunner } from '../../src/index.js'
import type { WatcherRequest, WatcherTold } from './watcherProcess.js'

/** A process that watches and cancels tasks; see watcherProcess. */
const { url, prefix, options } = JSON.parse(process.argv[2] ?? '{}') as {
  url: string
  prefix: string
  options?: object
}

const client = createClient({ url })
client.on('error', () => undefined)
await client.connect()
const injector = createInjector()
injector.bind(BlobStore, () => new InMemoryBlobStore())
injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: 'test', topicPrefix: prefix }))
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({ client, serviceName: 'test', topicPrefix: prefix, capabilityCheck: 'off', ...options }),
)
const runner = injector.get(TaskRunner)

const tell = (message: WatcherTold): void => {
  process.send?.(message)
}
const tellError = (error: unknown): void => tell({ kind: 'error', error: String(error) })

process.on('message', (request: WatcherRequest) => {
  if (request.kind === 'cancel') {
    runner.cancel(request.taskId, request.reason).then(() => tell({ kind: 'cancelled' }), tellError)
    return
  }
  runner.updates$(request.taskId).subscribe({
    next: (update) => tell({ kind: 'update', update }),
    complete: () => tell({ kind: 'over' }),
    error: tellError,
  })
})
tell({ kind: 'ready' })
