import { defineTaskHandler, type SubmitOptions } from '@furystack/task-runner'
import { createClient } from 'redis'
import { describe, expect, it } from 'vitest'

import { InvalidOptionError, redisQueueAdapter, type RedisQueueOptions } from '../../src/index.js'
import { connectClient } from '../support/redis.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

const cycle: { self?: unknown } = {}
cycle.self = cycle

describe('bad input', () => {
  const good: SubmitOptions<unknown> = { type: 'mail', payload: 1, handlerVersion: 1 }
  it.each([
    ['an empty type', { ...good, type: '' }, /type/],
    ['a type with a lone surrogate', { ...good, type: 'a\uD800' }, /type/],
    ['a version of 0', { ...good, handlerVersion: 0 }, /handlerVersion/],
    ['a cyclic payload', { ...good, payload: cycle }, /payload/i],
    ['a BigInt in the payload', { ...good, payload: { n: 1n } }, /payload/i],
    ['an invalid date', { ...good, notBefore: new Date(NaN) }, /notBefore/],
    ['an empty idempotency key', { ...good, idempotencyKey: '' }, /idempotencyKey/],
    ['an empty tag', { ...good, tags: [''] }, /tags/],
    ['an unknown parent', { ...good, parentTaskId: 'nobody' }, /nobody/],
  ])('refuses %s, and leaves nothing behind', async (_name, options, message) => {
    const { runner, client, prefix } = await startService()
    await expect(runner.submit(options)).rejects.toThrow(message)
    expect(await client.keys(`${prefix}*`)).toEqual([])
  })

  it('answers for unknown ids', async () => {
    const { runner } = await startService()
    expect(await runner.get('nobody')).toBeUndefined()
    await expect(runner.start('nobody')).rejects.toThrow(/nobody/)
    await expect(runner.getTree('nobody')).rejects.toThrow(/nobody/)
    await expect(runner.cancel('nobody')).resolves.toBeUndefined()
  })
})

describe('many tasks', () => {
  const mails = (count: number, type = 'mail') =>
    Array.from({ length: count }, (_, payload) => ({ type, handlerVersion: 1, payload }))

  it('are written all together or not at all', async () => {
    const { runner, client, prefix } = await startService()
    await client.set(`${prefix}tasks:queue:spoilt:v1`, 'no stream')
    await expect(runner.submitMany([...mails(9), ...mails(1, 'spoilt')])).rejects.toThrow(/WRONGTYPE/)
    expect(await client.keys(`${prefix}*`)).toEqual([`${prefix}tasks:queue:spoilt:v1`])
    expect(await runner.submitMany(mails(501))).toHaveLength(501)
    expect(await client.xLen(`${prefix}tasks:queue:mail:v1`)).toBe(501)
  })

  it('are told of once they are there, whatever becomes of those that follow', async () => {
    const { runner, client, prefix } = await startService()
    await client.set(`${prefix}tasks:queue:spoilt:v1`, 'no stream')
    const told: string[] = []
    runner.subscribeByType('mail', ({ taskId }) => told.push(taskId))
    await expect(runner.submitMany([...mails(1_000), ...mails(1, 'spoilt')])).rejects.toThrow(/WRONGTYPE/)
    const entries = await client.xRange(`${prefix}tasks:queue:mail:v1`, '-', '+')
    expect(entries?.length).toBeGreaterThan(0)
    expect(told).toEqual(entries?.map((entry) => entry?.message['taskId']))
  })
})

describe('bad options', () => {
  it.each<[keyof RedisQueueOptions, unknown]>([
    ['serviceName', ''],
    ['consumerGroup', ''],
    ['topicPrefix', 7],
    ['topicPrefix', '\uD800'],
    ['visibilityTimeoutMs', 99],
    ['visibilityTimeoutMs', 1000.5],
    ['visibilityTimeoutByType', { mail: 0 }],
    ['visibilityTimeoutByType', []],
    ['blockTimeoutMs', 0],
    ['blockTimeoutMs', Infinity],
    ['retryBackoffMs', '250'],
    ['idempotencyTtlSec', 0.5],
    ['schedulerIntervalMs', 9],
    ['concurrencyLimits', { mail: 0 }],
    ['commandDeadlineMs', 1],
  ])('refuses %s: %j', async (option, value) => {
    const client = await connectClient()
    const options = { client, serviceName: 'test', [option]: value } as RedisQueueOptions
    expect(() => redisQueueAdapter(options)).toThrow(InvalidOptionError)
    expect(() => redisQueueAdapter(options)).toThrow(new RegExp(`^${option}`))
  })

  it('refuses a client that is not connected, and something that is no client', () => {
    const client = createClient({ url: 'redis://127.0.0.1:1' })
    expect(() => redisQueueAdapter({ client, serviceName: 'test' })).toThrow(/client\.connect\(\)/)
    expect(() => redisQueueAdapter({ client: {} as never, serviceName: 'test' })).toThrow(/createClient/)
  })
})

describe('idempotency', () => {
  it('keeps type and key apart, whatever colons they hold', async () => {
    const { runner } = await startService()
    const one = await runner.submit({ type: 'a:b', payload: 1, handlerVersion: 1, idempotencyKey: 'c' })
    const two = await runner.submit({ type: 'a', payload: 1, handlerVersion: 1, idempotencyKey: 'b:c' })
    expect(one.id).not.toBe(two.id)
  })
})

describe('delayed tasks', () => {
  it('start when they are due by the clock of the server, never before', async () => {
    const { runner, client, work } = await startService()
    let started = 0
    work(
      [
        defineTaskHandler({
          type: 'timed',
          version: 1,
          handler: async () => {
            started++
            return Promise.resolve()
          },
        }),
      ],
      { concurrency: 20 },
    )
    const [seconds = 0, micros = 0] = (await client.sendCommand<string[]>(['TIME'])).map(Number)
    const serverNow = seconds * 1000 + Math.floor(micros / 1000)
    const claimedAt = new Map<string, number>()
    runner.subscribeByType('timed', (update) => {
      if (update.kind === 'status' && update.status === 'running') claimedAt.set(update.taskId, Date.parse(update.at))
    })
    const tasks = await Promise.all(
      Array.from({ length: 200 }, (_, n) => {
        const due = serverNow + ((n * 37) % 1500)
        return runner.submit({ type: 'timed', payload: due, handlerVersion: 1, notBefore: new Date(due) })
      }),
    )
    await until(() => started === 200, { description: 'all to start' })
    for (const { id, payload } of tasks) expect(claimedAt.get(id)).toBeGreaterThanOrEqual(payload as number)
  })

  it('promotes thousands that are due in one instant', async () => {
    const { runner, work } = await startService()
    let started = 0
    const due = new Date(Date.now() + 1_500)
    await Promise.all(
      Array.from({ length: 3_000 }, (_, n) =>
        runner.submit({ type: 'burst', payload: n, handlerVersion: 1, notBefore: due }),
      ),
    )
    work(
      [
        defineTaskHandler({
          type: 'burst',
          version: 1,
          handler: async () => {
            started++
            return Promise.resolve()
          },
        }),
      ],
      { concurrency: 50 },
    )
    await until(() => started === 3_000, { timeoutMs: 20_000, description: 'all to start' })
  })
})

describe('tasks submitted in one turn', () => {
  it('share one call, and none of them fails with another', async () => {
    const { runner, client, prefix } = await startService()
    await client.set(`${prefix}tasks:queue:broken:v1`, 'no stream')
    const submitted = ['a', 'broken', 'b'].map((type) => runner.submit({ type, payload: type, handlerVersion: 1 }))

    expect(await Promise.allSettled(submitted)).toMatchObject([
      { status: 'fulfilled', value: { type: 'a', payload: 'a' } },
      { status: 'rejected', reason: { code: 'redis-refused', reply: 'WRONGTYPE' } },
      { status: 'fulfilled', value: { type: 'b', payload: 'b' } },
    ])
    expect(await client.xLen(`${prefix}tasks:queue:a:v1`)).toBe(1)
    expect(await client.xLen(`${prefix}tasks:queue:b:v1`)).toBe(1)
  })

  it('are one task where they share a key', async () => {
    const { runner } = await startService()
    const once = { type: 'a', payload: 1, handlerVersion: 1, idempotencyKey: 'k' }

    const [one, other] = await Promise.all([runner.submit(once), runner.submit(once)])

    expect(one.id).toBe(other.id)
  })
})
