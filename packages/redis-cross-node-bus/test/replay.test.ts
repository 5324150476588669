import { ReplayWindowExceededError } from '@furystack/cross-node-bus'
import { describe, expect, it } from 'vitest'

import { connectClient, type TestClient } from '../../../test/support/redis.js'
import { until } from '../../../test/support/until.js'
import type { RedisCrossNodeBus } from '../src/index.js'
import { sharedRedis } from './support/ownRedis.js'
import { startBus, type StartedBus } from './support/startBus.js'

const redis = sharedRedis()

const replayed = async (bus: RedisCrossNodeBus, fromSeq: string, topic = 't'): Promise<unknown[]> => {
  const payloads: unknown[] = []
  for await (const { payload } of bus.replay(topic, fromSeq)) payloads.push(payload)
  return payloads
}

/** Entries as a bus writes them, with ids of the test's choice. */
const add = async (admin: TestClient, key: string, ids: readonly string[]): Promise<void> => {
  for (const id of ids) {
    await admin.xAdd(key, id, { v: '1', originId: 'x', emittedAt: '', payload: JSON.stringify(id) })
  }
}

/** A topic t with entries a minute ago, so that there is room for tokens before, between and after them. */
const setUp = async (
  count: number,
  options: Parameters<typeof startBus>[0] = {},
): Promise<StartedBus & { admin: TestClient; key: string; ids: string[] }> => {
  const admin = await connectClient()
  const started = startBus(options)
  const key = `${started.prefix}t`
  const ms = Date.now() - 60_000
  const ids = Array.from({ length: count }, (_, index) => `${ms + 10 * index}-5`)
  await add(admin, key, ids)
  return { ...started, admin, key, ids }
}

describe('replay', () => {
  it('goes through many pages', async () => {
    const { bus, listen } = startBus()
    const ear = await listen('t')
    const numbers = Array.from({ length: 1_000 }, (_, index) => index)
    await Promise.all(numbers.map((number) => bus.publish('t', number)))
    await ear.heard(999)

    expect(await replayed(bus, '0-0')).toEqual(numbers)
    expect(await replayed(bus, ear.seqs[399] ?? '')).toEqual(numbers.slice(400))
    expect(await replayed(bus, ear.seqs[599] ?? '')).toEqual(numbers.slice(600))
  })

  it('ends with what was there at its first step', async () => {
    const { bus } = startBus()
    await Promise.all([1, 2, 3].map((number) => bus.publish('t', number)))

    const seen: unknown[] = []
    for await (const { payload } of bus.replay('t', '0')) {
      seen.push(payload)
      await bus.publish('t', 'later')
    }

    expect(seen).toEqual([1, 2, 3])
  })

  it('B6: asks the server, also on a bus that has never subscribed, after the stream was trimmed by others', async () => {
    const { bus, admin, key, ids, errors } = await setUp(10)
    expect(await replayed(bus, ids[2] ?? '')).toEqual(ids.slice(3))

    await admin.xTrim(key, 'MAXLEN', 5)

    const refused = { topic: 't', fromSeq: ids[2], oldestRetainedSeq: ids[5] }
    await expect(replayed(bus, ids[2] ?? '')).rejects.toMatchObject(refused)
    expect(errors).toEqual([{ topic: 't', phase: 'replay', error: expect.any(ReplayWindowExceededError) as unknown }])
    expect(await replayed(bus, ids[5] ?? '')).toEqual(ids.slice(6))
  })

  it('B6: does not skip what is dropped while it is under way', async () => {
    const { bus, admin, key, ids } = await setUp(500)
    const iterator = bus.replay('t', '0-0')[Symbol.asyncIterator]()
    expect(await iterator.next()).toMatchObject({ value: { seq: ids[0] } })

    await admin.xTrim(key, 'MAXLEN', 100)

    const rest = async (): Promise<void> => {
      while ((await iterator.next()).done !== true);
    }
    await expect(rest()).rejects.toThrow(ReplayWindowExceededError)
  })

  it('B7: takes nothing for the oldest but the oldest', async () => {
    const { bus, listen, ids } = await setUp(6)
    await listen('t')
    expect(bus.oldestSeq('t')).toBe(ids[0])

    expect(await replayed(bus, ids[3] ?? '')).toEqual(ids.slice(4))

    expect(bus.oldestSeq('t')).toBe(ids[0])
    expect(await replayed(bus, ids[1] ?? '')).toEqual(ids.slice(2))
  })

  it('B8: refuses no position on a stream that was never trimmed', async () => {
    const { bus, listen, ids } = await setUp(4)
    await listen('t')
    const [ms] = (ids[0] ?? '').split('-').map(Number) as [number]

    for (const from of ['0', '0-0', '0-1', `${ms}-4`, `${ms}`, `${ms - 1}-0`, `${ms - 1_000}-7`]) {
      expect(await replayed(bus, from)).toEqual(ids)
    }
    expect(await replayed(bus, `${ms + 5}-0`)).toEqual(ids.slice(1))
  })

  it('B8: refuses a position before the first entry of a stream that was trimmed', async () => {
    const { bus, admin, key, ids } = await setUp(4)
    await admin.xTrim(key, 'MAXLEN', 2)

    for (const from of ['0-0', ids[0] ?? '', ids[1] ?? '']) {
      await expect(replayed(bus, from)).rejects.toThrow(ReplayWindowExceededError)
    }
    expect(await replayed(bus, ids[2] ?? '')).toEqual(ids.slice(3))
  })

  it('knows nothing to be missing after the last entry, even if all are gone', async () => {
    const { bus, admin, key, ids } = await setUp(4)
    await admin.xTrim(key, 'MAXLEN', 0)

    expect(await replayed(bus, ids[3] ?? '')).toEqual([])
    await expect(replayed(bus, ids[2] ?? '')).rejects.toMatchObject({ oldestRetainedSeq: undefined })
    await expect(replayed(bus, '0-0')).rejects.toThrow(ReplayWindowExceededError)
  })

  it('refuses a token from before everything was deleted, which the bus has seen', async () => {
    const { bus, admin, key, ids, listen } = await setUp(4)
    await listen('t')

    await admin.del(key)
    await expect(replayed(bus, ids[3] ?? '')).rejects.toThrow(ReplayWindowExceededError)
    await bus.publish('t', 'new')

    for (const from of ids) await expect(replayed(bus, from)).rejects.toThrow(ReplayWindowExceededError)
    expect(await replayed(bus, '0-0')).toEqual(['new'])
  })

  it('refuses a token from before a deletion that the bus has not noticed yet', async () => {
    const { bus, admin, key, ids, listen } = await setUp(4)
    await listen('t')

    await admin.del(key)
    await add(admin, key, [`${Date.now()}-0`])

    for (const from of ids) await expect(replayed(bus, from)).rejects.toThrow(ReplayWindowExceededError)
  })

  it('refuses a token that is older than anything is kept, on a stream that may have vanished meanwhile', async () => {
    const { bus, ids } = await setUp(4, { retentionMs: 120_000 })
    const [ms] = (ids[0] ?? '').split('-').map(Number) as [number]

    expect(await replayed(bus, `${ms - 1_000}-0`)).toEqual(ids)
    await expect(replayed(bus, `${ms - 90_000}-0`)).rejects.toThrow(ReplayWindowExceededError)
  })

  it('leaves out and reports what is no message', async () => {
    const { bus, admin, key, ids, errors } = await setUp(1)
    await admin.xAdd(key, '*', { v: '2', originId: 'x', emittedAt: '', payload: '1' })
    await admin.xAdd(key, '*', { v: '1', originId: 'x', emittedAt: '', payload: '2' })

    expect(await replayed(bus, '0-0')).toEqual([ids[0], 2])
    expect(errors).toMatchObject([{ topic: 't', phase: 'replay' }])
  })

  it('waits for Redis for a while, and then fails', async () => {
    const { proxy } = await redis()
    const { bus: hasty, connections, prefix } = startBus({ url: proxy.url, commandDeadlineMs: 200 })
    const { bus: patient, connections: others } = startBus({ url: proxy.url, topicPrefix: prefix })
    await hasty.publish('t', 1)
    await patient.publish('t', 2)
    proxy.refuse()
    proxy.cut()
    await until(() => connections.includes('publish lost') && others.includes('publish lost'))

    await expect(replayed(hasty, '0-0')).rejects.toThrow('No connection to Redis within 200 ms')
    const messages = replayed(patient, '0-0')
    await proxy.accept()
    expect(await messages).toEqual([1, 2])
  })
})

describe('the oldest token', () => {
  it('is known after a publication, after a subscription, and looked up for the next question', async () => {
    const { bus, admin, key, prefix, ids, listen } = await setUp(3)
    expect(bus.oldestSeq('t')).toBeUndefined()
    expect(await until(() => bus.oldestSeq('t'))).toBe(ids[0])

    await admin.xTrim(key, 'MAXLEN', 1)
    expect(await until(() => bus.oldestSeq('t') !== ids[0] && bus.oldestSeq('t'))).toBe(ids[2])

    const other = startBus({ topicPrefix: prefix })
    await other.bus.publish('t', 1)
    expect(other.bus.oldestSeq('t')).toBe(ids[2])

    const ear = await listen('empty')
    expect(bus.oldestSeq('empty')).toBeUndefined()
    await bus.publish('empty', 1)
    await ear.heard(1)
    expect(bus.oldestSeq('empty')).toBe(ear.seqs[0])
  })
})
