import { ReplayWindowExceededError } from '@furystack/cross-node-bus'
import { describe, expect, it } from 'vitest'

import { until } from '../../../test/support/until.js'
import { ownRedis, sharedRedis } from './support/ownRedis.js'
import { startBus, type StartedBus } from './support/startBus.js'

const redis = sharedRedis()

const gaps = ({ errors }: StartedBus): string[] =>
  errors
    .filter(({ error }) => error instanceof ReplayWindowExceededError)
    .map(({ topic, phase, error }) => `${topic} ${phase} after ${(error as ReplayWindowExceededError).fromSeq}`)

/** A speaker in direct contact with Redis, and a listener whose connection can be disturbed. */
const setUp = async (options: { replayWindow?: number; retentionMs?: number; persistent?: boolean } = {}) => {
  const { persistent = false, ...settings } = options
  const { server, admin, proxy } = await (persistent ? ownRedis({ persistent }) : redis())
  const speaker = startBus({ url: server.url, topicPrefix: '', ...settings })
  const listener = startBus({ url: proxy.url, topicPrefix: '', ...settings })
  const cut = async (): Promise<void> => {
    proxy.refuse()
    proxy.cut()
    await until(() => listener.connections.includes('subscribe lost'))
  }
  return { server, admin, proxy, speaker, listener, cut }
}

describe('after an outage', () => {
  it('everything that is still there is delivered, and nothing is reported', async () => {
    const { proxy, speaker, listener, cut } = await setUp()
    const ear = await listener.listen('t')
    const quiet = await listener.listen('quiet')
    await speaker.bus.publish('t', 0)
    await ear.heard(0)

    await cut()
    for (let number = 1; number <= 700; number++) void speaker.bus.publish('t', number)
    await speaker.bus.publish('t', 'last')
    await proxy.accept()

    await ear.heard('last')
    expect(ear.payloads).toEqual([...Array.from({ length: 701 }, (_, index) => index), 'last'])
    expect(quiet.payloads).toEqual([])
    expect(gaps(listener)).toEqual([])
  })

  it('B11: what was dropped meanwhile is told, and what is left is delivered', async () => {
    const { proxy, speaker, listener, cut } = await setUp({ replayWindow: 100 })
    const ear = await listener.listen('t')
    const quiet = await listener.listen('quiet')
    await speaker.bus.publish('t', 0)
    await ear.heard(0)

    await cut()
    for (let number = 1; number <= 700; number++) void speaker.bus.publish('t', number)
    await speaker.bus.publish('t', 'last')
    await proxy.accept()

    await ear.heard('last')
    const [, ...rest] = ear.payloads
    expect(gaps(listener)).toEqual([`t subscribe after ${ear.seqs[0]}`])
    expect(rest.length).toBeGreaterThanOrEqual(100)
    expect(rest.length).toBeLessThan(400)
    expect(rest).toEqual([...Array.from({ length: 700 }, (_, index) => index + 1), 'last'].slice(-rest.length))
    expect(quiet.payloads).toEqual([])
  })

  it('B11: what a topic that was empty before has lost is told too', async () => {
    const { proxy, speaker, listener, cut } = await setUp({ replayWindow: 100 })
    const ear = await listener.listen('t')

    await cut()
    for (let number = 1; number <= 700; number++) void speaker.bus.publish('t', number)
    await speaker.bus.publish('t', 'last')
    await proxy.accept()

    await ear.heard('last')
    expect(gaps(listener)).toEqual(['t subscribe after 0-0'])
  })

  it('a restart with all data loses nothing', async () => {
    const { server, speaker, listener, cut, proxy } = await setUp({ persistent: true })
    const ear = await listener.listen('t')
    await speaker.bus.publish('t', 1)
    await ear.heard(1)
    await cut()
    await speaker.bus.publish('t', 2)

    await server.kill()
    await until(() => speaker.connections.includes('publish lost'))
    const published = speaker.bus.publish('t', 3)
    await server.restart()
    await published
    await proxy.accept()

    await ear.heard(3)
    expect(ear.payloads).toEqual([1, 2, 3])
    expect(gaps(listener)).toEqual([])
  })

  it('a restart without data is told, and the topic goes on', async () => {
    const { server, speaker, listener } = await setUp()
    const ear = await listener.listen('t')
    await speaker.bus.publish('t', 1)
    await ear.heard(1)

    await server.kill()
    await until(() => listener.connections.includes('subscribe lost'))
    await server.restart()
    await until(() => gaps(listener).length > 0)
    await speaker.bus.publish('t', 2)

    await ear.heard(2)
    expect(ear.payloads).toEqual([1, 2])
    expect(gaps(listener)).toEqual([`t subscribe after ${ear.seqs[0]}`])
  })

  it('a stream that began anew with lower ids is told, and read from its start', async () => {
    const { admin, proxy, speaker, listener, cut } = await setUp()
    const ear = await listener.listen('t')
    await speaker.bus.publish('t', 1)
    await ear.heard(1)

    await cut()
    await admin.flushAll()
    const fields = { v: '1', originId: 'old clock', emittedAt: '', payload: '"from the past"' }
    await admin.xAdd('t', '1-1', fields)
    await proxy.accept()

    await ear.heard('from the past')
    expect(gaps(listener)).toEqual([`t subscribe after ${ear.seqs[0]}`])
    await admin.xAdd('t', '1-2', { ...fields, payload: '"more"' })
    await ear.heard('more')
  })

  it('a stream that has lost its end, as by a fail-over, is told, and nothing of it is heard again', async () => {
    const { admin, proxy, speaker, listener, cut } = await setUp()
    const ear = await listener.listen('t')
    for (const number of [1, 2, 3]) await speaker.bus.publish('t', number)
    await ear.heard(3)

    await cut()
    const entries = (await admin.xRange('t', '-', '+')) ?? []
    await admin.del('t')
    for (const { id, message } of entries.slice(0, -1)) await admin.xAdd('t', id, message)
    await proxy.accept()
    await until(() => gaps(listener).length > 0)
    await speaker.bus.publish('t', 4)

    await ear.heard(4)
    expect(ear.payloads).toEqual([1, 2, 3, 4])
    expect(gaps(listener)).toEqual([`t subscribe after ${ear.seqs[2]}`])
    // One that the former server had not given, with an id that it had passed.
    const late = await listener.listen('t')
    await speaker.bus.publish('t', 5)
    await late.heard(5)
    expect(late.payloads).toEqual([5])
  })

  it('a topic that vanished because nobody had published for long is not', async () => {
    const { admin, proxy, speaker, listener, cut } = await setUp({ retentionMs: 60_000 })
    const ear = await listener.listen('t')
    const past = `${Date.now() - 120_000}-0`
    await admin.xAdd('t', past, { v: '1', originId: 'x', emittedAt: '', payload: '"long ago"' })
    await ear.heard('long ago')

    await cut()
    await admin.del('t')
    await speaker.bus.publish('t', 'anew')
    await proxy.accept()

    await ear.heard('anew')
    expect(gaps(listener)).toEqual([])
  })
})

describe('without an outage', () => {
  it('FLUSHALL does not keep a topic from going on', async () => {
    const { admin, speaker, listener } = await setUp()
    const ear = await listener.listen('t')
    await speaker.bus.publish('t', 1)
    await ear.heard(1)

    await admin.flushAll()
    await speaker.bus.publish('t', 2)

    await ear.heard(2)
    expect(ear.payloads).toEqual([1, 2])
  })

  it('B11: a burst beyond the window is told by those who were not fast enough', async () => {
    const { speaker, listener } = await setUp({ replayWindow: 10 })
    const ear = await listener.listen('t')
    await speaker.bus.publish('t', 0)
    await ear.heard(0)

    for (let number = 1; number <= 2_000; number++) void speaker.bus.publish('t', number)
    await speaker.bus.publish('t', 'last')

    await ear.heard('last')
    const missed = 2_002 - ear.payloads.length
    expect(gaps(listener).length > 0).toBe(missed > 0)
    expect(missed).toBeGreaterThan(0)
    expect(new Set(ear.payloads).size).toBe(ear.payloads.length)
  })

  it('B11: a handler that is too slow for the window is told what it missed', async () => {
    const started = startBus({ replayWindow: 100 })
    const { bus } = started
    const payloads: unknown[] = []
    bus.subscribe('t', ({ payload }) => {
      payloads.push(payload)
      const end = performance.now() + (payloads.length > 100 ? 0 : 3)
      while (performance.now() < end);
    })
    await bus.whenReady('t')

    for (let number = 1; number <= 1_000; number++) void bus.publish('t', number)
    await bus.publish('t', 'last')

    await until(() => payloads.includes('last'))
    expect(payloads.length).toBeLessThan(1_001)
    expect(gaps(started).length).toBeGreaterThan(0)
    expect(new Set(payloads).size).toBe(payloads.length)
  })
})
