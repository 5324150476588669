/**
 * The first way to use the library: bind it as your task runner and never see an observable.
 *
 *     npx tsx examples/01-bind-as-task-runner.ts        (with a Redis at REDIS_URL, or at localhost:6379)
 */
import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import { defineRedisTaskRunner } from '@furystack/redis-task-runner'
import { defineTaskHandler, defineWorker, isTerminalStatus, type Task, TaskRunner } from '@furystack/task-runner'
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

const submitted = await Promise.all(
  ['to be or not to be', 'that is the question', ''].map((text) =>
    runner.submit({ type: 'word-count', handlerVersion: 1, payload: { text } }),
  ),
)

for (const { id, payload } of submitted) {
  const task = await ended(id)
  console.log(`${JSON.stringify(payload)} → ${task.status}: ${JSON.stringify(task.result)}`)
}

// Ends the worker and the runner; tasks that were still running would be handed back and run elsewhere.
await injector[Symbol.asyncDispose]()
await client.close()

/** Waits for a task by its updates, and looks first whether it is over already. */
async function ended(taskId: string): Promise<Task> {
  await new Promise<void>((resolve, reject) => {
    const subscription = runner.subscribe(taskId, (update) => {
      if (update.kind === 'status' && isTerminalStatus(update.status)) finish()
    })
    const finish = (): void => {
      subscription[Symbol.dispose]()
      resolve()
    }
    runner.get(taskId).then((task) => {
      if (task && isTerminalStatus(task.status)) finish()
    }, reject)
  })
  const task = await runner.get(taskId)
  if (!task) throw new Error(`task ${taskId} is gone`)
  return task
}
