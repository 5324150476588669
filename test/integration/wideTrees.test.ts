import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import {
  defineInProcessTaskRunner,
  defineTaskHandler,
  MemoryTaskStore,
  TaskRunner,
  TaskStore,
} from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { serverOfTest } from '../support/redisServer.js'
import { startService } from '../support/service.js'

const child = defineTaskHandler<number, number>({ type: 'child', version: 1, handler: (_, n) => n })
const parent = defineTaskHandler<number, number>({
  type: 'parent',
  version: 1,
  handler: async (ctx, count) => {
    const spawned = Array.from({ length: count }, (_, n) => ctx.spawnChild<number, number>('child', n))
    const results = await ctx.awaitChildren(await Promise.all(spawned))
    return results.reduce((sum, n) => sum + n, 0)
  },
})

/** Has a parent run with so many children. */
const runFamily = async (runner: TaskRunner, children: number): Promise<void> => {
  const { id } = await runner.submit({ type: 'parent', handlerVersion: 1, payload: children })
  expect(await runner.waitFor(id, { timeoutMs: 100_000 })).toBe((children * (children - 1)) / 2)
}

/** What each child costs Redis. */
const costOverRedis = async (children: number) => {
  const { url } = await serverOfTest()
  const { client, runner, work } = await startService({ url })
  const counters = async () => {
    const info = await client.info('stats')
    const read = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])
    return [read('total_commands_processed'), read('total_net_input_bytes'), read('total_net_output_bytes')] as const
  }
  work([parent, child], { concurrency: 50 })
  const before = await counters()
  await runFamily(runner, children)
  const after = await counters()
  return after.map((count, index) => (count - (before[index] ?? 0)) / children)
}

/** What each child costs a store: calls, and what they are answered with. */
const costInMemory = async (children: number) => {
  const cost = [0, 0]
  const store = new MemoryTaskStore()
  const counting = new Proxy<TaskStore>(store, {
    get(of, key): unknown {
      const member: unknown = Reflect.get(of, key, of)
      if (typeof member !== 'function') return member
      return async (...args: unknown[]) => {
        const answer: unknown = await Reflect.apply(member, of, args)
        cost[0]! += 1
        cost[1]! += JSON.stringify(answer)?.length ?? 0
        return answer
      }
    },
  })
  await using injector = createInjector()
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  injector.bind(TaskStore, () => counting)
  injector.bind(TaskRunner, defineInProcessTaskRunner())
  const runner = injector.get(TaskRunner)
  runner.registerWorker({
    name: 'worker',
    handlers: [parent, child],
    concurrency: 50,
    tags: [],
    compatibleVersions: {},
  })
  await runFamily(runner, children)
  return cost.map((count) => count / children)
}

describe('a child of 10,000 costs as much as one of 1,000', () => {
  it.each([
    ['over Redis, in commands and bytes', costOverRedis],
    ['in memory, in calls of the store and their answers', costInMemory],
  ])(
    'T56 %s',
    async (_, costOf) => {
      const few = await costOf(1_000)
      const many = await costOf(10_000)
      for (const [index, cost] of many.entries()) expect(cost / few[index]!).toBeLessThan(1.15)
    },
    120_000,
  )
})
