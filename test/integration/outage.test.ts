import { defineTaskHandler } from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { LaneError, OutcomeUnknownError, RedisUnavailableError } from '../../src/index.js'
import { deferred } from '../support/deferred.js'
import { serverOfTest } from '../support/redisServer.js'
import { startService } from '../support/service.js'
import { proxyOfTest } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

const double = defineTaskHandler({
  type: 'double',
  version: 1,
  handler: async (_ctx, n: number) => Promise.resolve(n * 2),
})

const resultOf = async (get: () => Promise<{ status: string; result?: unknown } | undefined>): Promise<unknown> => {
  const ended = async (): Promise<{ result: unknown } | false> => {
    const task = await get()
    return task?.status === 'succeeded' && { result: task.result }
  }
  return (await until(ended, { description: 'a result' })).result
}

describe('a Redis that goes away and comes back', () => {
  it('refuses calls within the deadline with a typed error, and goes on by itself afterwards', async () => {
    const server = await serverOfTest({ persistent: true })
    const { runner, work } = await startService({ url: server.url, commandDeadlineMs: 500 })
    const seen: string[] = []
    runner.events$.subscribe((event) => seen.push(event.kind))
    work([double])
    const before = await runner.submit({ type: 'double', payload: 1, handlerVersion: 1 })
    expect(await resultOf(() => runner.get(before.id))).toBe(2)

    await server.kill('SIGKILL')
    const startedAt = performance.now()
    const error: unknown = await runner
      .submit({ type: 'double', payload: 2, handlerVersion: 1 })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LaneError)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    const second: unknown = await runner.get(before.id).catch((reason: unknown) => reason)
    expect(second).toBeInstanceOf(RedisUnavailableError)
    expect(second).toMatchObject({ code: 'redis-unavailable', effect: 'excluded' })

    await server.restart()
    const after = await until(
      () => runner.submit({ type: 'double', payload: 3, handlerVersion: 1 }).catch(() => undefined),
      { description: 'a submit to be taken' },
    )
    expect(await resultOf(() => runner.get(after.id))).toBe(6)
    expect(seen).toContain('connectionLost')
    expect(seen).toContain('recovered')
  })

  it('goes on after the server lost all its data', async () => {
    const server = await serverOfTest()
    const { runner, work, client } = await startService({ url: server.url })
    work([double])
    const before = await runner.submit({ type: 'double', payload: 1, handlerVersion: 1 })
    expect(await resultOf(() => runner.get(before.id))).toBe(2)

    await client.sendCommand(['FLUSHALL'])
    await client.sendCommand(['SCRIPT', 'FLUSH'])
    const after = await runner.submit({ type: 'double', payload: 2, handlerVersion: 1 })
    expect(await resultOf(() => runner.get(after.id))).toBe(4)
  })
})

describe('a worker in the midst of its work', () => {
  it('keeps what it was doing over an outage, and its result', async () => {
    const server = await serverOfTest({ persistent: true })
    const { runner, work } = await startService({ url: server.url, commandDeadlineMs: 500 })
    const started = deferred()
    const gate = deferred()
    let starts = 0
    const held = defineTaskHandler({
      type: 'held',
      version: 1,
      handler: async () => {
        starts++
        started.resolve()
        await gate.promise
        return 'done'
      },
    })
    work([held, double])
    const { id } = await runner.submit({ type: 'held', payload: 1, handlerVersion: 1 })
    await started.promise
    await server.kill('SIGKILL')
    // It ends while nobody can be told.
    gate.resolve()
    await server.restart()
    expect(await resultOf(() => runner.get(id))).toBe('done')
    const after = await until(
      () => runner.submit({ type: 'double', payload: 2, handlerVersion: 1 }).catch(() => undefined),
      { description: 'a submit to be taken' },
    )
    expect(await resultOf(() => runner.get(after.id))).toBe(4)
    expect(starts).toBe(1)
  })

  it('loses nothing and tells no trouble while the scripts are flushed again and again', async () => {
    const server = await serverOfTest()
    const { runner, work, client, troubles } = await startService({ url: server.url })
    const faults: unknown[] = []
    runner.events$.subscribe((event) => event.kind === 'brokerError' && faults.push(event))
    work([double])
    let isOver = false
    const flushing = (async () => {
      while (!isOver) await client.sendCommand(['SCRIPT', 'FLUSH'])
    })()
    const tasks = await Promise.all(
      Array.from({ length: 200 }, (_, n) => runner.submit({ type: 'double', payload: n, handlerVersion: 1 })),
    )
    const results = await Promise.all(tasks.map(({ id }) => runner.waitFor(id, { timeoutMs: 15_000 })))
    isOver = true
    await flushing
    expect(results).toEqual(Array.from({ length: 200 }, (_, n) => 2 * n))
    expect([faults, troubles]).toEqual([[], []])
  })
})

describe('a server that becomes a replica and a primary again', () => {
  it('refuses with a typed error, on few connections, and is used again afterwards', async () => {
    const server = await serverOfTest()
    const { runner, client, work } = await startService({ url: server.url })
    work([double])
    const before = await runner.submit({ type: 'double', payload: 1, handlerVersion: 1 })
    expect(await resultOf(() => runner.get(before.id))).toBe(2)
    const connectionsOpened = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1])

    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const opened = await connectionsOpened()
    const refusals = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        runner.submit({ type: 'double', payload: n, handlerVersion: 1 }).catch((reason: unknown) => reason),
      ),
    )
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(LaneError)
    expect(refusals).toContainEqual(expect.objectContaining({ code: 'redis-refused', reply: 'READONLY' }))
    expect((await connectionsOpened()) - opened).toBeLessThan(20)

    await client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    const after = await until(
      () => runner.submit({ type: 'double', payload: 3, handlerVersion: 1 }).catch(() => undefined),
      { description: 'a submit to be taken' },
    )
    expect(await resultOf(() => runner.get(after.id))).toBe(6)
  })
})

describe('a worker that rests', () => {
  it('is woken by whatever shows that the server can be used again', async () => {
    const server = await serverOfTest()
    // Nothing but being woken ends its rests within this test.
    const { runner, client, work } = await startService({ url: server.url, retryBackoffMs: 60_000 })
    const resting = deferred()
    runner.events$.subscribe((event) => {
      if (event.kind === 'brokerError' && event.activity === 'claim') resting.resolve()
    })
    work([double])
    const before = await runner.submit({ type: 'double', payload: 1, handlerVersion: 1 })
    expect(await resultOf(() => runner.get(before.id))).toBe(2)

    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    await resting.promise
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE'])

    const after = await until(
      () => runner.submit({ type: 'double', payload: 2, handlerVersion: 1 }).catch(() => undefined),
      { timeoutMs: 15_000, description: 'a submit to be taken' },
    )
    expect(await resultOf(() => runner.get(after.id))).toBe(4)
  })
})

describe('a connection that stands still', () => {
  it('replaces a half-open connection for commands, and the caller learns that the outcome is unknown', async () => {
    const server = await serverOfTest()
    const proxy = await proxyOfTest(server.port)
    const { runner } = await startService({ url: proxy.url, commandDeadlineMs: 400 })
    await runner.submit({ type: 'double', payload: 1, handlerVersion: 1 })

    proxy.stall()
    const error: unknown = await runner
      .submit({ type: 'double', payload: 2, handlerVersion: 1 })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OutcomeUnknownError)
    expect(error).toMatchObject({ effect: 'unknown' })

    proxy.resume()
    await until(() => runner.submit({ type: 'double', payload: 3, handlerVersion: 1 }).catch(() => undefined), {
      description: 'a submit to be taken',
    })
  })

  it('replaces a half-open connection for waiting, and takes the next task', async () => {
    const server = await serverOfTest()
    const proxy = await proxyOfTest(server.port)
    const worker = await startService({ url: proxy.url, commandDeadlineMs: 400, prefix: 'half-open/' })
    const submitter = await startService({ url: server.url, prefix: 'half-open/' })
    worker.work([double])
    const first = await submitter.runner.submit({ type: 'double', payload: 1, handlerVersion: 1 })
    expect(await resultOf(() => submitter.runner.get(first.id))).toBe(2)

    const lost: string[] = []
    worker.runner.events$.subscribe((event) => {
      if (event.kind === 'connectionLost') lost.push(event.connection)
    })
    proxy.stall()
    const second = await submitter.runner.submit({ type: 'double', payload: 2, handlerVersion: 1 })
    await until(() => lost.some((name) => name.startsWith('reader')), {
      description: 'the watchdog',
    })
    proxy.resume()
    expect(await resultOf(() => submitter.runner.get(second.id))).toBe(4)
  })

  it('survives having its connections cut again and again', async () => {
    const server = await serverOfTest()
    const proxy = await proxyOfTest(server.port)
    const worker = await startService({ url: proxy.url, prefix: 'cut/', visibilityTimeoutMs: 500 })
    const submitter = await startService({ url: server.url, prefix: 'cut/' })
    worker.work([double])
    const tasks = await Promise.all(
      Array.from({ length: 200 }, (_, n) => submitter.runner.submit({ type: 'double', payload: n, handlerVersion: 1 })),
    )
    for (let cuts = 0; cuts < 5; cuts++) {
      proxy.cut()
      await until(() => proxy.connections > 0, { description: 'the next connection' })
    }
    for (const [n, { id }] of tasks.entries()) expect(await resultOf(() => submitter.runner.get(id))).toBe(n * 2)
  })
})

describe('shutting down while Redis is away', () => {
  it('ends within its deadlines', async () => {
    const server = await serverOfTest()
    const { dispose, work } = await startService({ url: server.url, commandDeadlineMs: 300 })
    work([double])
    await server.kill('SIGKILL')
    const startedAt = performance.now()
    await dispose()
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})
