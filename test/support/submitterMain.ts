import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { type SubmitOptions, TaskRunner } from '@furystack/task-runner'
import { createClient } from 'redis'

import { defineRedisTaskRunner } from '../../src/index.js'
import type { SubmitterRequest } from './submitterProcess.js'

/** A process that submits what it is told to; see submitterProcess. */
const { url, prefix, hasBus } = JSON.parse(process.argv[2] ?? '{}') as { url: string; prefix: string; hasBus: boolean }

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
  defineRedisTaskRunner({ client, serviceName: 'test', topicPrefix: prefix, capabilityCheck: 'off' }),
)
const runner = injector.get(TaskRunner)

const submit = async ({ how, options, times }: SubmitterRequest): Promise<string[]> => {
  const copies = Array.from({ length: times }, (): SubmitOptions<unknown> => options)
  const tasks =
    how === 'submitMany' ? await runner.submitMany(copies) : await Promise.all(copies.map((copy) => runner[how](copy)))
  return tasks.map(({ id, isDuplicate = false }) => `${isDuplicate ? 'old' : 'new'} ${id}`)
}

process.on('message', (request: SubmitterRequest) => {
  submit(request).then(
    (answers) => process.send?.({ answers }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.({ answers: [] })
