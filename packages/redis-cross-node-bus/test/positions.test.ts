import { describe, expect, it } from 'vitest'

import { connectClient } from '../../../test/support/redis.js'
import { until } from '../../../test/support/until.js'
import { holdPositions } from './support/holdPositions.js'
import { sharedRedis } from './support/ownRedis.js'
import { startBus, startListening } from './support/startBus.js'

const redis = sharedRedis()

describe('where a subscription begins', () => {
  it('B1: after the last message, whatever the stream retains', async () => {
    const { bus, listen } = startBus()
    for (let number = 1; number <= 300; number++) void bus.publish('t', number)
    await bus.publish('t', 'last')

    const ear = await listen('t')
    await bus.publish('t', 'new')

    await ear.heard('new')
    expect(ear.payloads).toEqual(['new'])
  })

  it('B1: after the last id that a stream has given, even if its entry is gone', async () => {
    const admin = await connectClient()
    const { bus, prefix, listen } = startBus()
    await bus.publish('t', 'old')
    await admin.xTrim(`${prefix}t`, 'MAXLEN', 0)

    const ear = await listen('t')
    await bus.publish('t', 'new')

    await ear.heard('new')
    expect(ear.payloads).toEqual(['new'])
  })

  it('B2: after the last message, also if Redis is away at the time', async () => {
    const { proxy, server } = await redis()
    const speaker = startBus({ url: server.url, topicPrefix: '' })
    await speaker.bus.publish('t', 'old')
    const { bus, connections } = startBus({ url: proxy.url, topicPrefix: '' })
    await until(() => connections.includes('publish ready'))
    proxy.refuse()
    proxy.cut()

    const ear = startListening(bus, 't')
    await speaker.bus.publish('t', 'meanwhile')
    await until(() => connections.includes('publish lost'))
    await proxy.accept()
    await bus.whenReady('t')
    await speaker.bus.publish('t', 'new')

    await ear.heard('new')
    expect(ear.payloads).toEqual(['new'])
  })

  it('B2: waits while Redis refuses to tell, reports that once, and harms no other topic', async () => {
    const admin = await connectClient()
    const { bus, prefix, errors, listen } = startBus()
    await admin.set(`${prefix}t`, 'not a stream')

    const ear = startListening(bus, 't')
    const other = await listen('other')
    await bus.publish('other', 1)
    await other.heard(1)
    await until(() => errors.length > 0)
    await admin.del(`${prefix}t`)
    await bus.whenReady('t')
    await bus.publish('t', 'new')

    await ear.heard('new')
    expect(errors).toMatchObject([{ topic: 't', phase: 'subscribe' }])
    expect(String(errors[0]?.error)).toContain('WRONGTYPE')
  })

  it('B10: lets the read in progress end for a new topic', async () => {
    const { bus, listen } = startBus({ blockTimeoutMs: 60_000 })
    const first = await listen('first')
    await bus.publish('first', 1)
    await first.heard(1)

    // Time after time: the next read may be on its way, or have reached the server, when a topic comes.
    for (let number = 1; number <= 20; number++) {
      const ear = await listen(`topic ${number}`)
      await bus.publish(`topic ${number}`, number)
      await ear.heard(number)
    }
  })

  it.each(['older', 'newer'] as const)(
    'B12: goes by its own answer if a topic is left and subscribed to again, and the %s answer comes first',
    async (first) => {
      const speaker = startBus()
      const { client, answers } = holdPositions(`${speaker.prefix}t`)
      const { bus, listen } = startBus({ client, topicPrefix: speaker.prefix, commandDeadlineMs: 30_000 })
      const other = await listen('other')
      await speaker.bus.publish('t', 'before')

      const left = startListening(bus, 't')
      const older = await until(() => answers[0])
      left[Symbol.dispose]()
      await speaker.bus.publish('t', 'between')
      const ear = startListening(bus, 't')
      const newer = await until(() => answers[1])
      let isLive = false
      const live = bus.whenReady('t').then(() => {
        isLive = true
      })

      const [one, two] = first === 'older' ? [older, newer] : [newer, older]
      one.release()
      // By the time this has come, the topic was read too if it is read at all.
      await speaker.bus.publish('other', 1)
      await other.heard(1)
      expect(isLive).toBe(first === 'newer')
      two.release()
      await live
      await speaker.bus.publish('t', 'after')

      await ear.heard('after')
      expect(ear.payloads).toEqual(['after'])
      expect(left.payloads).toEqual([])
    },
  )

  it('goes back for a newcomer to what was read but not delivered, and delivers nothing twice', async () => {
    const { bus, listen } = startBus()
    const early = await listen('t')
    const ears = [early]
    const sent: number[] = []
    for (let number = 1; number <= 200; number++) {
      sent.push(number)
      void bus.publish('t', number)
      if (number % 20 === 0) ears.push(startListening(bus, 't'))
      if (number % 7 === 0) await new Promise(setImmediate)
    }
    await bus.publish('t', 'end')

    for (const ear of ears) await ear.heard('end')
    expect(early.payloads).toEqual([...sent, 'end'])
    for (const { payloads } of ears) expect(payloads).toEqual(early.payloads.slice(-payloads.length))
  })

  it('reads a topic once for all its handlers', async () => {
    const { admin, server } = await redis()
    const { bus, listen } = startBus({ url: server.url })
    const ears = [await listen('t'), await listen('t'), await listen('t')]
    await bus.publish('t', 1)
    for (const ear of ears) await ear.heard(1)

    const list = await until(async () => {
      const clients = String(await admin.sendCommand<string>(['CLIENT', 'LIST']))
      return clients.includes('cmd=xread') && clients
    })
    expect(list.match(/cmd=xread/g)).toHaveLength(1)
    expect(String(await admin.info('clients'))).toMatch(/blocked_clients:1/)
  })

  it('B13: is awaited by whenReady, which rejects if there is none', async () => {
    const { proxy } = await redis()
    proxy.refuse()
    const { bus } = startBus({ url: proxy.url })
    await expect(bus.whenReady('t')).rejects.toThrow('Nobody is subscribed to "t"')

    const handle = bus.subscribe('t', () => undefined)
    const ready = bus.whenReady('t')
    const order: string[] = []
    void ready.then(() => order.push('ready'))
    await expect(bus.whenReady('t', 'elsewhere/')).rejects.toThrow('Nobody')
    order.push('accepting')
    await proxy.accept()
    await ready

    expect(order).toEqual(['accepting', 'ready'])
    handle[Symbol.dispose]()
    await expect(bus.whenReady('t')).rejects.toThrow('Nobody')
  })

  it('B13: does not keep whenReady waiting for a subscription that was left, or a bus that has ended', async () => {
    const { proxy } = await redis()
    proxy.refuse()
    const { bus } = startBus({ url: proxy.url })
    const handle = bus.subscribe('t', () => undefined)
    const left = bus.whenReady('t')
    handle[Symbol.dispose]()
    await left

    bus.subscribe('t', () => undefined)
    const ended = bus.whenReady('t')
    bus[Symbol.dispose]()
    await expect(ended).rejects.toThrow('disposed')
  })

  it('takes many topics with one read', async () => {
    const { bus, received } = startBus()
    const topics = Array.from({ length: 300 }, (_, index) => `topic ${index}`)
    const ears = topics.map((topic) => startListening(bus, topic))
    await Promise.all(topics.map((topic) => bus.whenReady(topic)))

    await Promise.all(topics.map((topic) => bus.publish(topic, topic)))

    for (const [index, ear] of ears.entries()) await ear.heard(topics[index])
    expect(received).toHaveLength(300)
  })
})
