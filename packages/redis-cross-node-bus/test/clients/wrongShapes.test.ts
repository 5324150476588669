import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'

import { redisUrl } from '../../../../test/support/redis.js'
import { serverOfTest } from '../../../../test/support/redisServer.js'
import { startPosing } from '../../../../test/support/startPosing.js'
import { until } from '../../../../test/support/until.js'
import { type AnyRedisClient, BusOptionError, RedisCrossNodeBus } from '../../src/index.js'
import { startBus, startListening, templateClient } from '../support/startBus.js'

describe('a client of the wrong shape is refused when the bus is made', () => {
  it.each<[string, AnyRedisClient]>([
    ['createClientPool', createClientPool()],
    ['createSentinel', createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] })],
    ['createCluster', createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })],
  ])('one of %s that is not connected', (_, client) => {
    const make = () => new RedisCrossNodeBus({ client, serviceName: 'test', topicPrefix: '{test}/' })
    expect(make).toThrow(BusOptionError)
    expect(make).toThrow(/^client: not connected is not a connected client: await client\.connect\(\) before/)
  })

  it('one in subscriber mode; not one that subscribes besides', async () => {
    const subscribed = async (RESP: 2 | 3) => {
      const client = createClient({ url: redisUrl(), RESP })
      await client.connect()
      onTestFinished(() => client.destroy())
      await client.subscribe('news', () => undefined)
      return client
    }
    const client = await subscribed(2)
    expect(() => startBus({ client })).toThrow(/^client: in subscriber mode is not a client for commands/)
    const { bus } = startBus({ client: await subscribed(3) })
    await bus.publish('t', 1)
  })
})

describe('a server of the wrong shape is told once, and by every call', () => {
  it.each<[string, () => Promise<string>, RegExp]>([
    [
      'a Sentinel',
      async () => (await serverOfTest({ sentinel: ['sentinel monitor main 127.0.0.1 1 1'] })).url,
      /^client: connected to a Sentinel is not one of createSentinel/,
    ],
    [
      'a node of a cluster',
      async () => (await serverOfTest({ args: ['--cluster-enabled', 'yes'] })).url,
      /^client: connected to a node of a cluster is not one of createCluster/,
    ],
    [
      'a server that is too old',
      async () => startPosing(await serverOfTest(), { version: '6.0.16' }),
      /^client: a server of version 6\.0\.\d+ is not one of Redis 6\.2 or newer, or Valkey/,
    ],
  ])('%s', async (_, start, sentence) => {
    const { bus, errors, connections } = startBus({ client: templateClient(await start()), topicPrefix: '{test}/' })
    startListening(bus, 't')
    const ready = bus.whenReady('t')
    const published = bus.publish('t', 1)

    await expect(published).rejects.toThrow(BusOptionError)
    await expect(published).rejects.toThrow(sentence)
    await expect(ready).rejects.toThrow(sentence)
    await expect(bus.publish('t', 2)).rejects.toThrow(sentence)
    expect(() => bus.subscribe('t', () => undefined)).toThrow(sentence)
    expect(() => bus.replay('t', '0-0')).toThrow(sentence)
    await until(() => errors.length === 2)
    expect(errors.filter(({ topic }) => topic === '<publishing>')).toMatchObject([{ phase: 'publish' }])
    expect(connections).toEqual([])
    await bus[Symbol.asyncDispose]()
    await expect(bus.publish('t', 3)).rejects.toThrow('disposed')
  })
})
