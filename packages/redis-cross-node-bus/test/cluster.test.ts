import { describe, expect, it, onTestFinished } from 'vitest'

import { connectClient } from '../../../test/support/redis.js'
import { startRedisServer } from '../../../test/support/redisServer.js'
import { until } from '../../../test/support/until.js'
import { startBus, startListening } from './support/startBus.js'

/** A cluster of one node, which insists on its rules all the same. */
const startCluster = async (): Promise<string> => {
  const server = await startRedisServer({ args: ['--cluster-enabled', 'yes'] })
  onTestFinished(() => server.stop())
  const admin = await connectClient({ url: server.url })
  await admin.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
  await until(async () => String(await admin.sendCommand<string>(['CLUSTER', 'INFO'])).includes('cluster_state:ok'))
  return server.url
}

describe('on a Redis Cluster', () => {
  it('B15: all topics share a slot by the hash tag of their prefix', async () => {
    const url = await startCluster()
    const { bus, errors, listen } = startBus({ url, topicPrefix: '{shop}/' })
    const ears = [await listen('a'), await listen('b'), await listen('c')]

    await Promise.all(['a', 'b', 'c'].map((topic) => bus.publish(topic, topic)))

    for (const [index, ear] of ears.entries()) await ear.heard(['a', 'b', 'c'][index])
    expect(errors).toEqual([])
  })

  it('B15: a topic in another slot is reported, and all are read, if later', async () => {
    const url = await startCluster()
    const stock = startBus({ url, topicPrefix: '{stock}/' })
    const { bus, errors, listen } = startBus({ url, topicPrefix: '{shop}/' })
    const own = await listen('t')
    const foreign: unknown[] = []
    bus.subscribeForeign('{stock}/', 't', ({ payload }) => foreign.push(payload))
    await bus.whenReady('t', '{stock}/')

    for (let number = 1; number <= 5; number++) {
      await stock.bus.publish('t', number)
      await bus.publish('t', number)
      await own.heard(number)
      await until(() => foreign.length === number)
    }

    expect(own.payloads).toEqual([1, 2, 3, 4, 5])
    expect(foreign).toEqual([1, 2, 3, 4, 5])
    expect(errors.length).toBeGreaterThan(0)
    expect(errors[0]).toMatchObject({ topic: '<read-loop>', phase: 'subscribe' })
    expect(String(errors[0]?.error)).toContain('CROSSSLOT')
  })

  it('a key that holds something else keeps nobody else waiting', async () => {
    const admin = await connectClient()
    const { bus, prefix, errors, listen } = startBus({ blockTimeoutMs: 100 })
    const broken = await listen('broken')
    const fine = await listen('fine')
    await bus.publish('fine', 1)
    await fine.heard(1)

    await admin.set(`${prefix}broken`, 'not a stream')
    await until(() => errors.some(({ topic }) => topic === 'broken'))
    await bus.publish('fine', 2)
    await fine.heard(2)
    await expect(bus.publish('broken', 1)).rejects.toMatchObject({ reason: 'refused' })
    await admin.del(`${prefix}broken`)
    await bus.publish('broken', 2)

    await broken.heard(2)
    const reports = errors.filter(({ topic, phase }) => topic === 'broken' && phase === 'subscribe')
    expect(reports).toHaveLength(1)
    startListening(bus, 'fine')[Symbol.dispose]()
  })
})
