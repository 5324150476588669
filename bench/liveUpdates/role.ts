import { setTimeout as delay } from 'node:timers/promises'

import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineTaskHandler, TaskRunner } from '@furystack/task-runner'
import { createClient } from 'redis'

import { defineRedisTaskRunner } from '../../src/index.js'

/** One of the processes of main.ts: answers its questions until it is told to end. */
type Question =
  | { kind: 'submit'; reports: number | null }
  | { kind: 'watch' | 'cancel' | 'until running' | 'until signalled'; id: string }
  | { kind: 'end' }

const { url, prefix, role } = JSON.parse(process.argv[2] ?? '{}') as { url: string; prefix: string; role: string }

/** Milliseconds with fractions, the same in all processes of a machine. */
const now = (): number => performance.timeOrigin + performance.now()

const once = (): { promise: Promise<number>; resolve: (value: number) => void } => {
  let resolve!: (value: number) => void
  const promise = new Promise<number>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
type Moments = { running: ReturnType<typeof once>; signalled: ReturnType<typeof once> }
const moments = new Map<string, Moments>()
const momentsOf = (id: string): Moments => {
  const known = moments.get(id) ?? { running: once(), signalled: once() }
  moments.set(id, known)
  return known
}

const handler = defineTaskHandler({
  type: 'measured',
  version: 1,
  progressThrottleMs: 0,
  handler: async (ctx, reports: number | null) => {
    const { running, signalled } = momentsOf(ctx.taskId)
    ctx.cancellationSignal.addEventListener('abort', () => signalled.resolve(now()))
    running.resolve(now())
    if (reports === null) return delay(600_000, undefined, { signal: ctx.cancellationSignal })
    await delay(1_000)
    for (let report = 1; report <= reports; report++) {
      ctx.reportProgress({ percent: report, meta: { at: now() } })
      await delay(5)
    }
  },
})

const client = createClient({ url })
await client.connect()
const injector = createInjector()
injector.bind(BlobStore, () => new InMemoryBlobStore())
injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: role, topicPrefix: prefix }))
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({ client, serviceName: role, topicPrefix: prefix, capabilityCheck: 'off' }),
)
const runner = injector.get(TaskRunner)
if (role === 'worker') {
  runner.registerWorker({ name: role, handlers: [handler], concurrency: 4, tags: [], compatibleVersions: {} })
}

const watch = (id: string): Promise<number[]> =>
  new Promise((resolve, reject) => {
    const delays: number[] = []
    runner.updates$(id).subscribe({
      next: (update) => {
        if (update.kind === 'progress') delays.push(now() - (update.meta as { at: number }).at)
      },
      complete: () => resolve(delays),
      error: reject,
    })
  })

const answer = async (question: Exclude<Question, { kind: 'end' }>): Promise<unknown> => {
  switch (question.kind) {
    case 'submit': {
      const { id } = await runner.submit({ type: 'measured', handlerVersion: 1, payload: question.reports })
      return { id }
    }
    case 'watch':
      return watch(question.id)
    case 'cancel': {
      const at = now()
      await runner.cancel(question.id)
      return { at }
    }
    case 'until running':
      return { runningAt: await momentsOf(question.id).running.promise }
    case 'until signalled':
      return { signalledAt: await momentsOf(question.id).signalled.promise }
  }
}

process.on('message', (question: Question) => {
  if (question.kind === 'end') {
    void injector[Symbol.asyncDispose]().then(() => client.close())
    process.disconnect()
    return
  }
  void answer(question).then((reply) => process.send?.(reply))
})
process.send?.('ready')
