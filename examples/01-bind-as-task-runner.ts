/**
 * The first way to use the library: bind it as your task runner and never see an observable.
 *
 *     npx tsx examples/01-bind-as-task-runner.ts        (with a Redis at REDIS_URL, or at localhost:6379)
 */
import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import { defineRedisTaskRunner } from '@furystack/redis-task-runner'
import { defineTaskHandler, defineWorker, TaskRunner } from '@furystack/task-runner'
import { createClient } from 'redis'

// A handler says which tasks it takes (type and version), what to do when it fails, and does the work.
const wordCount = defineTaskHandler({
  type: 'word-count',
  version: 1,
  retryPolicy: { maxAttempts: 3, backoff: 'exponential', baseDelayMs: 100, jitter: 0.2 },
  handler: async (ctx, { text }: { text: string }) => {
    const words = text.split(/\s+/).filter((word) => word !== '')
    // Progress is stored with the task. The claim is kept alive by itself while the handler runs.
    ctx.reportProgress({ percent: 50 })
    await ctx.sleep(20) // as if it took a while; ends early if the task is cancelled
    return { words: words.length }
  },
})

// A worker takes tasks of some handlers, so many at once. It starts when its token is resolved.
const CountingWorker = defineWorker({ name: 'counting-worker', types: [wordCount], concurrency: 4 })

const client = createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
client.on('error', (error) => console.error(`Redis: ${String(error)}`))
await client.connect()

const injector = createInjector()
injector.bind(BlobStore, () => new InMemoryBlobStore())
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({
    client,
    serviceName: 'example',
    topicPrefix: 'example-01/',
    // Blobs and updates stay in this process, which is all right as long as there is only this one.
    capabilityCheck: 'off',
  }),
)
const runner = injector.get(TaskRunner)
injector.get(CountingWorker)

const submitted = await runner.submitMany(
  ['to be or not to be', 'that is the question', ''].map((text) => ({
    type: 'word-count',
    handlerVersion: 1,
    payload: { text },
  })),
)

// Whoever submits can wait for the result; `runner.updates$(id)` would show all that happens on the way.
for (const { id, payload } of submitted) {
  const result = await runner.waitFor(id, { timeoutMs: 10_000 })
  console.log(`${JSON.stringify(payload)} → ${JSON.stringify(result)}`)
}

// Ends the worker and the runner; tasks that were still running would be handed back and run elsewhere.
await injector[Symbol.asyncDispose]()
await client.close()
