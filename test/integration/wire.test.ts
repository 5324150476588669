import { defineTaskHandler } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

const keyNames = async (
  client: Awaited<ReturnType<typeof startService>>['client'],
  prefix: string,
): Promise<string[]> => (await client.keys(`${prefix}*`)).map((key) => key.slice(prefix.length)).sort()

it('writes an entry of three fields into the stream of type and version', async () => {
  const { runner, client, prefix } = await startService()
  const task = await runner.submit({ type: 'mail', payload: { to: 'a' }, handlerVersion: 3 })
  const entries = await client.xRange(`${prefix}tasks:queue:mail:v3`, '-', '+')
  expect(entries).toMatchObject([{ message: { taskId: task.id, type: 'mail', handlerVersion: '3' } }])
  expect(await client.xInfoGroups(`${prefix}tasks:queue:mail:v3`)).toMatchObject([{ name: 'runner' }])
  expect(await keyNames(client, prefix)).toEqual([
    'tasks:bell:mail:v3',
    'tasks:lanes',
    'tasks:queue:mail:v3',
    `tasks:row:${task.id}`,
  ])
})

it('parks a task that is not due, as JSON scored by its due time, and takes it out again when it is cancelled', async () => {
  const { runner, client, prefix } = await startService()
  const notBefore = new Date(Date.now() + 40 * 86_400_000)
  const task = await runner.submit({ type: 'mail', payload: 1, handlerVersion: 1, notBefore })
  expect(await client.zRangeWithScores(`${prefix}tasks:scheduler`, 0, -1)).toEqual([
    { value: JSON.stringify({ taskId: task.id, type: 'mail', handlerVersion: 1 }), score: notBefore.getTime() },
  ])
  await runner.cancel(task.id)
  expect(await client.exists(`${prefix}tasks:scheduler`)).toBe(0)
  expect((await runner.get(task.id))?.status).toBe('cancelled')
})

it('leases an idempotency key with an expiry, and the winner as its value', async () => {
  const { runner, client, prefix } = await startService({ idempotencyTtlSec: 100 })
  const task = await runner.submit({ type: 'mail', payload: 1, handlerVersion: 1, idempotencyKey: 'welcome-7' })
  const key = `${prefix}tasks:idem:mail:welcome-7`
  expect(await client.get(key)).toBe(task.id)
  expect(await client.ttl(key)).toBeGreaterThan(90)
})

it('gives tagged tasks a lane of their own, which only workers with all of the tags read', async () => {
  const { runner, client, prefix, work } = await startService()
  const ran: string[] = []
  const render = defineTaskHandler({
    type: 'render',
    version: 1,
    handler: async (_ctx, name: string) => {
      ran.push(name)
      return Promise.resolve()
    },
  })
  const plain = work([render])
  await runner.submit({ type: 'render', payload: 'tagged', handlerVersion: 1, tags: ['gpu', 'eu,west'] })
  await runner.submit({ type: 'render', payload: 'plain', handlerVersion: 1 })
  await until(() => ran.length === 1, { description: 'the plain task' })
  expect(ran).toEqual(['plain'])
  expect(await client.xLen(`${prefix}tasks:queue:render:v1:tags=eu%2Cwest,gpu`)).toBe(1)
  await plain.drain()

  work([render], { tags: ['gpu', 'eu,west', 'big'] })
  await until(() => ran.length === 2, { description: 'the tagged task' })
  expect(ran).toEqual(['plain', 'tagged'])
})

it('never has more claims open than slots over three types, and lets none of them starve', async () => {
  const { runner, client, prefix, work } = await startService()
  const types = ['a', 'b', 'c']
  let open = 0
  let mostOpen = 0
  const order: string[] = []
  const handlers = types.map((type) =>
    defineTaskHandler({
      type,
      version: 1,
      handler: async () => {
        mostOpen = Math.max(mostOpen, ++open)
        order.push(type)
        await new Promise((resolve) => setImmediate(resolve))
        open--
      },
    }),
  )
  // One lane with a large backlog before the others have any.
  for (let n = 0; n < 300; n++) await runner.submit({ type: 'a', payload: n, handlerVersion: 1 })
  for (let n = 0; n < 30; n++) {
    await runner.submit({ type: 'b', payload: n, handlerVersion: 1 })
    await runner.submit({ type: 'c', payload: n, handlerVersion: 1 })
  }
  const pendingOf = async (): Promise<number> => {
    const counts = await Promise.all(
      types.map(async (type) => {
        const summary = await client.xPending(`${prefix}tasks:queue:${type}:v1`, 'runner')
        return summary.pending
      }),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }
  work(handlers, { concurrency: 2 })
  let mostPending = 0
  await until(
    async () => {
      mostPending = Math.max(mostPending, await pendingOf())
      return order.length === 360
    },
    { timeoutMs: 20_000, description: 'all tasks' },
  )
  expect(mostOpen).toBe(2)
  expect(mostPending).toBeLessThanOrEqual(2)
  // Turn by turn: the short lanes are through long before the long one.
  const lastOf = (type: string): number => order.lastIndexOf(type)
  expect(lastOf('b')).toBeLessThan(120)
  expect(lastOf('c')).toBeLessThan(120)
})

it('keeps a fleet cap over several services, frees places on every end, and does not hold up other types', async () => {
  const settings = { concurrencyLimits: { capped: 3 } }
  const first = await startService(settings)
  const second = await startService({ ...settings, prefix: first.prefix })
  let open = 0
  let mostOpen = 0
  let ended = 0
  const handler = async (_ctx: unknown, n: number): Promise<void> => {
    mostOpen = Math.max(mostOpen, ++open)
    await new Promise((resolve) => setTimeout(resolve, 5))
    open--
    ended++
    if (n % 5 === 0) throw new Error('one of five fails')
  }
  const free = deferred<undefined>()
  const handlers = [
    defineTaskHandler({ type: 'capped', version: 1, handler }),
    defineTaskHandler({
      type: 'free',
      version: 1,
      handler: async () => {
        free.resolve(undefined)
        return Promise.resolve()
      },
    }),
  ]
  for (let n = 0; n < 60; n++) await first.runner.submit({ type: 'capped', payload: n, handlerVersion: 1 })
  first.work(handlers, { concurrency: 5 })
  second.work(handlers, { concurrency: 5 })
  await first.runner.submit({ type: 'free', payload: 0, handlerVersion: 1 })
  await free.promise
  await until(() => ended === 60, { timeoutMs: 20_000, description: 'all capped tasks' })
  expect(mostOpen).toBe(3)
  await until(async () => (await first.client.zCard(`${first.prefix}tasks:cap:capped`)) === 0, {
    description: 'all places to be free',
  })
})

it('sets entries aside that it cannot read, and goes on', async () => {
  const { runner, client, prefix, work } = await startService()
  const stream = `${prefix}tasks:queue:mail:v1`
  await client.xAdd(stream, '*', { nonsense: 'yes' })
  await client.zAdd(`${prefix}tasks:scheduler`, { value: 'not JSON', score: 1 })
  const done = deferred<undefined>()
  work([
    defineTaskHandler({
      type: 'mail',
      version: 1,
      handler: async () => {
        done.resolve(undefined)
        return Promise.resolve()
      },
    }),
  ])
  await runner.submit({ type: 'mail', payload: 1, handlerVersion: 1, notBefore: new Date(Date.now() + 50) })
  await done.promise
  const { letters } = await runner.deadLetters.list({ reason: 'unreadable' })
  expect(letters.map((letter) => letter.kind === 'entry' && [letter.lane, letter.type, letter.fields])).toEqual(
    expect.arrayContaining([
      ['mail:v1', 'mail', [['nonsense', 'yes']]],
      ['scheduler', undefined, [['member', 'not JSON']]],
    ]),
  )
  await until(async () => (await client.xLen(stream)) === 0, {
    description: 'the stream to be empty',
  })
})

it('starts delayed tasks in time although the worker that promoted so far is busy', async () => {
  const settings = { schedulerIntervalMs: 20_000, blockTimeoutMs: 20_000 }
  const busy = await startService(settings)
  const idle = await startService({ ...settings, prefix: busy.prefix })
  const release = deferred<undefined>()
  const held = deferred<undefined>()
  const done = deferred<undefined>()
  const hold = defineTaskHandler({
    type: 'hold',
    version: 1,
    handler: async () => {
      held.resolve(undefined)
      await release.promise
    },
  })
  const delayed = defineTaskHandler({
    type: 'delayed',
    version: 1,
    handler: async () => {
      done.resolve(undefined)
      return Promise.resolve()
    },
  })
  busy.work([hold], { concurrency: 1 })
  await until(async () => (await busy.client.exists(`${busy.prefix}tasks:promoter`)) === 1, {
    description: 'the first worker to promote',
  })
  await busy.runner.submit({ type: 'hold', payload: 0, handlerVersion: 1 })
  await held.promise
  idle.work([delayed], { concurrency: 1 })
  await idle.runner.submit({ type: 'delayed', payload: 0, handlerVersion: 1, notBefore: new Date(Date.now() + 500) })
  await done.promise
  release.resolve(undefined)
})

it('clears entries of cancelled tasks away, however many, and runs what is behind them', async () => {
  const { runner, client, prefix, work } = await startService()
  const tasks = await Promise.all(
    Array.from({ length: 450 }, (_, n) => runner.submit({ type: 'mail', payload: n, handlerVersion: 1 })),
  )
  await Promise.all(tasks.map(({ id }) => runner.cancel(id)))
  await runner.submit({ type: 'mail', payload: 'the last', handlerVersion: 1 })
  const ran: unknown[] = []
  const done = deferred<undefined>()
  work([
    defineTaskHandler({
      type: 'mail',
      version: 1,
      handler: async (_ctx, payload: unknown) => {
        ran.push(payload)
        done.resolve(undefined)
        return Promise.resolve()
      },
    }),
  ])
  await done.promise
  expect(ran).toEqual(['the last'])
  await until(async () => (await client.xLen(`${prefix}tasks:queue:mail:v1`)) === 0, {
    description: 'the stream to be empty',
  })
})
