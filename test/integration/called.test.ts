import { defineTaskHandler } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { serverOfTest } from '../support/redisServer.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

/** Nothing but bells moves anything in time. */
const LONG = { blockTimeoutMs: 60_000, schedulerIntervalMs: 60_000 }

type Client = Awaited<ReturnType<typeof startService>>['client']

const infoOf = async (client: Client, section: string, field: string): Promise<number> =>
  Number(new RegExp(`${field}:(\\d+)`).exec(await client.info(section))?.[1])

/** Waits until so many workers wait. */
const waiting = (client: Client, count = 1): Promise<unknown> =>
  until(async () => (await infoOf(client, 'clients', 'blocked_clients')) >= count, {
    description: 'the worker to wait',
    intervalMs: 2,
  })

/** A handler, and the payloads that it was run with. */
const noting = (type = 'mail') => {
  const ran: unknown[] = []
  const handler = defineTaskHandler({
    type,
    version: 1,
    handler: async (_ctx, payload: unknown) => {
      ran.push(payload)
      return Promise.resolve()
    },
  })
  return { handler, ran }
}

it('starts a task that comes to an idle worker without that the worker has to say anything', async () => {
  const server = await serverOfTest()
  const { runner, client, work } = await startService({ url: server.url, ...LONG })
  let started = deferred<undefined>()
  let release = deferred<undefined>()
  const hold = defineTaskHandler({
    type: 'hold',
    version: 1,
    handler: async () => {
      started.resolve(undefined)
      await release.promise
    },
  })
  work([hold], { concurrency: 1 })
  const reads: number[] = []
  for (let round = 0; round < 8; round++) {
    await waiting(client)
    ;[started, release] = [deferred<undefined>(), deferred<undefined>()]
    const before = await infoOf(client, 'stats', 'total_reads_processed')
    await runner.submit({ type: 'hold', payload: 1, handlerVersion: 1 })
    await started.promise
    reads.push((await infoOf(client, 'stats', 'total_reads_processed')) - before)
    release.resolve(undefined)
  }

  // The submission, and the question of this test; more only where some periodic work fell in between.
  expect(Math.min(...reads), reads.join(' ')).toBe(2)
})

it('runs what comes after the scripts were flushed while it waited', async () => {
  const server = await serverOfTest()
  const { runner, client, work } = await startService({ url: server.url, ...LONG })
  const { handler, ran } = noting()
  work([handler], { concurrency: 1 })
  await waiting(client)

  await client.scriptFlush()
  await runner.submit({ type: 'mail', payload: 'a', handlerVersion: 1 })

  await until(() => ran.length === 1, { description: 'the task to run', timeoutMs: 5_000 })
})

it('reads lanes that it learns of while it waits', async () => {
  const server = await serverOfTest()
  const options = { url: server.url, blockTimeoutMs: 60_000 }
  const { runner, client, work } = await startService(options)
  const { handler, ran } = noting()
  work([handler], { concurrency: 1, tags: ['eu'] })
  await waiting(client)

  await runner.submit({ type: 'mail', payload: 'a', handlerVersion: 1, tags: ['eu'] })

  await until(() => ran.length === 1, { description: 'the task to run', timeoutMs: 5_000 })
})

it('ends at once when it is idle, and leaves nothing of its waiting behind', async () => {
  const server = await serverOfTest()
  const { client, work, prefix } = await startService({ url: server.url, ...LONG })
  const { handler } = noting()
  const tookMs: number[] = []
  for (let round = 0; round < 10; round++) {
    const worker = work([handler], { concurrency: 2 })
    await waiting(client)
    const from = performance.now()
    await worker[Symbol.asyncDispose]()
    tookMs.push(performance.now() - from)
    expect(await client.keys(`${prefix}tasks:wake:*`)).toEqual([])
  }

  expect(Math.min(...tookMs), tookMs.join(' ')).toBeLessThan(100)
})

it('strands no task that comes while it ends', async () => {
  const server = await serverOfTest()
  const { runner, client, work, prefix } = await startService({ url: server.url, ...LONG })
  const { handler, ran } = noting()
  const stream = `${prefix}tasks:queue:mail:v1`
  const rounds = 100
  let left = 0
  for (let round = 0; round < rounds; round++) {
    const worker = work([handler], { concurrency: 2 })
    await waiting(client)
    const submitting = runner.submit({ type: 'mail', payload: round, handlerVersion: 1 })
    // Both go out in one turn, or the end comes a few turns later.
    for (let turn = 0; turn < round % 4; turn++) await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([submitting, worker[Symbol.asyncDispose]()])
    const { pending } = await client.xPending(stream, 'runner')
    expect(pending).toBe(0)
    left = await client.xLen(stream)
    expect(ran.length + left).toBe(round + 1)
  }
  // What was left of the last round was taken up by the next worker.
  expect(left).toBeLessThanOrEqual(1)
})
