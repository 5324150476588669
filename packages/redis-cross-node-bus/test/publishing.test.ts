import { describe, expect, it } from 'vitest'

import { connectClient, type TestClient } from '../../../test/support/redis.js'
import { until } from '../../../test/support/until.js'
import { PublishError } from '../src/index.js'
import { ownRedis, sharedRedis } from './support/ownRedis.js'
import { startBus, startListening } from './support/startBus.js'

const redis = sharedRedis()

const statistic = async (admin: TestClient, name: string): Promise<number> =>
  Number(new RegExp(`${name}:(\\d+)`).exec(String(await admin.info()))?.[1] ?? 0)

/** How a publication ends: accepted, or why not. */
const outcome = (publication: Promise<void>): Promise<string> =>
  publication.then(
    () => 'accepted',
    (error: unknown) => (error instanceof PublishError ? error.reason : String(error)),
  )

describe('publishing', () => {
  it('sends what is published in one turn with one write, a chain of promises included', async () => {
    const { admin, server } = await redis()
    const { bus } = startBus({ url: server.url })
    await bus.publish('t', 'first')
    await bus.publish('u', 'first')
    const before = await statistic(admin, 'total_reads_processed')

    const publications: Array<Promise<void>> = []
    for (let number = 0; number < 20; number++) {
      publications.push(bus.publish('t', number))
      await Promise.resolve()
      publications.push(bus.publish('u', number))
    }
    await Promise.all(publications)

    // One for the messages, one for the client that looks.
    expect((await statistic(admin, 'total_reads_processed')) - before).toBe(2)
    const stats = String(await admin.info('commandstats'))
    expect(stats).toMatch(/cmdstat_xadd:calls=42,/)
    expect(stats).toMatch(/cmdstat_pexpire:calls=4,/)
  })

  it('keeps the order, through bursts and outages', async () => {
    const { proxy } = await redis()
    const { bus, listen, connections } = startBus({ url: proxy.url })
    const ear = await listen('t')
    const publications: Array<Promise<string>> = []
    for (let number = 0; number < 3_000; number++) {
      publications.push(outcome(bus.publish('t', number)))
      if (number % 100 === 0) await new Promise(setImmediate)
      if (number === 1_000) proxy.cut()
      if (number === 2_000) await until(() => connections.filter((event) => event === 'publish ready').length === 2)
    }
    const ends = await Promise.all(publications)
    await bus.publish('t', 'last')
    await ear.heard('last')

    expect(new Set(ends)).toContain('accepted')
    expect([...new Set(ends)].every((end) => end === 'accepted' || end === 'outcome-unknown')).toBe(true)
    const numbers = ear.payloads.slice(0, -1) as number[]
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    for (const [number, end] of ends.entries()) if (end === 'accepted') expect(numbers).toContain(number)
  })

  it('takes any number at once while Redis does', async () => {
    const admin = await connectClient()
    const { bus, prefix } = startBus({ outboxLimit: 100, replayWindow: 100_000 })
    await bus.publish('t', 'first')

    const publications = Array.from({ length: 5_000 }, (_, number) => outcome(bus.publish('t', number)))

    expect(new Set(await Promise.all(publications))).toEqual(new Set(['accepted']))
    expect(await admin.xLen(`${prefix}t`)).toBe(5_001)
  })

  it('holds back a limited number while Redis is away, drops the oldest of them, and tells', async () => {
    const { proxy } = await redis()
    proxy.refuse()
    const { bus, errors, listen } = startBus({ url: proxy.url, outboxLimit: 100 })
    const listening = listen('t')

    const publications = Array.from({ length: 250 }, (_, number) => outcome(bus.publish('t', number)))
    const dropped = await Promise.all(publications.slice(0, 150))
    expect(new Set(dropped)).toEqual(new Set(['dropped']))
    expect(errors.filter(({ phase, topic }) => phase === 'publish' && topic === 't')).toHaveLength(150)
    await proxy.accept()

    expect(new Set(await Promise.all(publications.slice(150)))).toEqual(new Set(['accepted']))
    const ear = await listening
    await bus.publish('t', 'last')
    await ear.heard('last')
  })

  it('holds back a limited number of bytes', async () => {
    const { proxy } = await redis()
    proxy.refuse()
    const { bus } = startBus({ url: proxy.url, outboxMaxBytes: 10_000 })

    const ends = [5_000, 4_000, 3_000, 20_000].map((size) => outcome(bus.publish('t', 'x'.repeat(size))))
    expect(await ends[2]).toBe('dropped')
    await proxy.accept()

    // The latest is kept, whatever its size.
    expect(await Promise.all(ends)).toEqual(['dropped', 'dropped', 'dropped', 'accepted'])
  })

  it('holds back a limited number if Redis is there, but does not answer', async () => {
    const { proxy } = await redis()
    const { bus } = startBus({ url: proxy.url, outboxLimit: 10 })
    await bus.publish('t', 'first')
    proxy.stall()
    const stuck = bus.publish('t', 'on its way')
    const ends: string[] = []
    let count = 0
    let latest = stuck

    await until(() => {
      latest = bus.publish('t', ++count)
      void outcome(latest).then((end) => ends.push(end))
      return ends.length >= 20
    })
    expect(new Set(ends)).toEqual(new Set(['dropped']))
    proxy.resume()

    await stuck
    await latest
  })

  it('holds nothing back for too long', async () => {
    const { proxy } = await redis()
    proxy.refuse()
    const { bus, errors } = startBus({ url: proxy.url, outboxMaxAgeMs: 200 })

    const ends = [1, 2].map((number) => outcome(bus.publish('t', number)))
    expect(await Promise.all(ends)).toEqual(['expired', 'expired'])

    expect(errors.filter(({ topic }) => topic === 't')).toHaveLength(2)
    await proxy.accept()
    await until(async () => (await outcome(bus.publish('t', 3))) === 'accepted')
  })

  it('says what Redis said when it refuses, once for good and all', async () => {
    const { admin, server } = await redis()
    const { bus, errors } = startBus({ url: server.url })
    await admin.set('t', 'not a stream')
    const { bus: plain } = startBus({ url: server.url, topicPrefix: '' })

    const error: unknown = await plain.publish('t', 1).catch((reason: unknown) => reason)

    expect(error).toBeInstanceOf(PublishError)
    expect(error).toMatchObject({ topic: 't', reason: 'refused', message: 'Publishing on "t" failed: Redis refused' })
    expect(String((error as PublishError).cause)).toContain('WRONGTYPE')
    await admin.configSet('maxmemory', '1')
    await expect(bus.publish('u', 1)).rejects.toMatchObject({ reason: 'refused' })
    await admin.configSet('maxmemory', '0')
    await bus.publish('u', 2)
    expect(errors).toMatchObject([{ topic: 'u', phase: 'publish' }])
  })

  it('waits while the primary is a replica, leaves it, and loses nothing', async () => {
    const { admin, server, proxy } = await ownRedis()
    const { bus, errors, connections, listen } = startBus({ url: proxy.url })
    const ear = await listen('t')
    await bus.publish('t', 0)
    await ear.heard(0)
    connections.length = 0

    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const ends = [1, 2, 3].map((number) => outcome(bus.publish('t', number)))
    await until(() => connections.includes('publish lost') && connections.includes('subscribe lost'))
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    ends.push(outcome(bus.publish('t', 4)))

    expect(await Promise.all(ends)).toEqual(['accepted', 'accepted', 'accepted', 'accepted'])
    await ear.heard(4)
    expect(ear.payloads).toEqual([0, 1, 2, 3, 4])
    expect(errors.some(({ error }) => String(error).includes('READONLY'))).toBe(true)
    expect(server.pid).toBeGreaterThan(0)
  })

  it('waits while Redis loads its data', async () => {
    const { admin, server } = await ownRedis({ persistent: true, args: ['--key-load-delay', '300'] })
    const { bus, connections, listen } = startBus({ url: server.url, topicPrefix: '' })
    const ear = await listen('t')
    await bus.publish('t', 0)
    await ear.heard(0)
    for (let number = 0; number < 3_000; number += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, offset) => admin.set(`k${number + offset}`, 'x')))
    }

    await server.kill()
    await until(() => connections.includes('publish lost'))
    const published = bus.publish('t', 1)
    await server.restart()
    await published

    await ear.heard(1)
    expect(ear.payloads).toEqual([0, 1])
  })

  it('costs no more than a stream entry where nobody listens', async () => {
    const { admin, server } = await redis()
    const { bus } = startBus({ url: server.url, topicPrefix: '' })
    await bus.publish('t', 'first')
    await admin.configResetStat()

    await bus.publish('t', 'second')

    const stats = String(await admin.info('commandstats'))
    const calls = [...stats.matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g)].map(([, name, count]) => `${name} ${count}`)
    expect(calls.filter((call) => !/^(info|config)/.test(call)).sort()).toEqual(['pexpire 1', 'xadd 1'])
    startListening(bus, 't')[Symbol.dispose]()
  })
})
