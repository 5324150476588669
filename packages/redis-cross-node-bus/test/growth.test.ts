import { describe, expect, it } from 'vitest'

import { connectClient } from '../../../test/support/redis.js'
import { until } from '../../../test/support/until.js'
import { sharedRedis } from './support/ownRedis.js'
import { startBus } from './support/startBus.js'

const redis = sharedRedis()

describe('what a bus keeps in Redis', () => {
  it('B14: is one stream a topic, which vanishes after the retention', async () => {
    const { admin, server } = await redis()
    const { bus, listen } = startBus({ url: server.url, topicPrefix: 'p/', retentionMs: 300 })
    const ear = await listen('t')
    await bus.publish('t', 1)
    await bus.publish('u', 2)
    await ear.heard(1)
    expect((await admin.keys('*')).sort()).toEqual(['p/t', 'p/u'])

    await until(async () => (await admin.dbSize()) === 0)
    await bus.publish('t', 3)

    await ear.heard(3)
    expect(ear.payloads).toEqual([1, 3])
  })

  it('B14: is renewed by each message, also after everything was deleted', async () => {
    const admin = await connectClient()
    const { bus, prefix } = startBus({ retentionMs: 60_000 })
    await bus.publish('t', 1)
    await admin.pExpire(`${prefix}t`, 10_000)
    await bus.publish('t', 2)
    expect(await admin.pTTL(`${prefix}t`)).toBeGreaterThan(50_000)

    await admin.del(`${prefix}t`)
    await bus.publish('t', 3)

    expect(await admin.pTTL(`${prefix}t`)).toBeGreaterThan(50_000)
  })

  it('B14: stays for ever if that is wanted', async () => {
    const admin = await connectClient()
    const { bus, prefix } = startBus({ retentionMs: Infinity })

    await bus.publish('t', 1)

    expect(await admin.pTTL(`${prefix}t`)).toBe(-1)
    await admin.del(`${prefix}t`)
  })

  it('is bounded by number', async () => {
    const admin = await connectClient()
    const { bus, prefix } = startBus({ replayWindow: 200 })

    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 400 }, (_, number) => bus.publish('t', number)))
    }

    const length = await admin.xLen(`${prefix}t`)
    expect(length).toBeGreaterThanOrEqual(200)
    expect(length).toBeLessThan(400)
  })

  it('is bounded by age', async () => {
    const admin = await connectClient()
    const { bus, prefix } = startBus({ retentionMs: 1_000 })
    const fields = { v: '1', originId: 'x', emittedAt: '', payload: '0' }
    const old = Date.now() - 600_000
    for (let number = 1; number <= 250; number++) await admin.xAdd(`${prefix}t`, `${old}-${number}`, fields)

    // The first message tells what time it is at the server, a later one is to tidy up.
    await bus.publish('t', 'first')
    await bus.publish('t', 'second')

    expect(await admin.xLen(`${prefix}t`)).toBeLessThan(120)
  })

  it('is nothing at all for whoever only listens', async () => {
    const { admin, server } = await redis()
    const { listen } = startBus({ url: server.url })

    await listen('t')

    expect(await admin.dbSize()).toBe(0)
  })
})
