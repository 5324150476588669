import { CrossNodeBus, CrossNodeBusTelemetryToken } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { createClient, createCluster } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'

import { connectClient, uniquePrefix } from '../../../test/support/redis.js'
import { BusOptionError, defineRedisCrossNodeBusAdapter, RedisCrossNodeBus } from '../src/index.js'

const client = createClient()
const cluster = createCluster({ rootNodes: [] })

describe('the options of the bus', () => {
  it.each([
    ['no client', { client: undefined }, TypeError],
    ['something else for a client', { client: {} }, TypeError],
    ['a URL for a client', { client: 'redis://:secret@127.0.0.1' }, /^client: string is not made by createClient/],
    [
      'a cluster without a hash tag',
      { client: cluster, topicPrefix: 'shop/' },
      /^topicPrefix: "shop\/" is not a prefix/,
    ],
    ['a cluster with an empty one', { client: cluster, topicPrefix: '{}shop/' }, BusOptionError],
    ['half a character in a prefix', { topicPrefix: '\ud800' }, /^topicPrefix: "\\ud800" is not a string of whole/],
    ['half a character in a node id', { nodeId: '\ud800' }, BusOptionError],
    ['half a character in a name', { serviceName: '\ud800' }, BusOptionError],
    ['no name', { serviceName: '' }, /serviceName/],
    ['an empty node id', { nodeId: '' }, /nodeId/],
    ['no window', { replayWindow: 0 }, RangeError],
    ['part of a message', { replayWindow: 1.5 }, RangeError],
    ['an endless window', { replayWindow: Infinity }, RangeError],
    ['no retention', { retentionMs: 0 }, RangeError],
    ['no waiting', { blockTimeoutMs: 0 }, RangeError],
    ['no deadline', { commandDeadlineMs: -1 }, RangeError],
    ['no outbox', { outboxLimit: 0 }, RangeError],
    ['no room in it', { outboxMaxBytes: NaN }, RangeError],
    ['no time in it', { outboxMaxAgeMs: 0 }, RangeError],
  ])('are refused at the call: %s', (_, wrong, problem) => {
    const options = { client, serviceName: 'test', ...wrong } as never

    expect(() => defineRedisCrossNodeBusAdapter(options)).toThrow(problem)
    expect(() => new RedisCrossNodeBus(options)).toThrow(problem)
  })

  it('give the node a name of its own', async () => {
    await using one = new RedisCrossNodeBus({ client: await connectClient(), serviceName: 'shop' })
    await using other = new RedisCrossNodeBus({ client: await connectClient(), serviceName: 'shop' })
    await using named = new RedisCrossNodeBus({ client: await connectClient(), serviceName: 'shop', nodeId: 'me' })

    expect(one.nodeId).toMatch(/^shop-[0-9a-f]{8}$/)
    expect(other.nodeId).not.toBe(one.nodeId)
    expect(named.nodeId).toBe('me')
    expect(one.capabilities).toEqual({
      persistent: true,
      replay: true,
      assignsSequence: true,
      crossNodeDelivery: true,
    })
    expect(Object.isFrozen(one.capabilities)).toBe(true)
  })
})

describe('defineRedisCrossNodeBusAdapter', () => {
  it('takes the place of the bus of an application, reports to its telemetry, and ends with it', async () => {
    const injector = createInjector()
    onTestFinished(() => injector[Symbol.asyncDispose]())
    const topicPrefix = uniquePrefix('token')
    injector.bind(
      CrossNodeBus,
      defineRedisCrossNodeBusAdapter({ client: await connectClient(), serviceName: 'test', topicPrefix }),
    )
    const published: string[] = []
    injector.get(CrossNodeBusTelemetryToken).addListener('onCrossNodePublished', ({ topic }) => published.push(topic))

    const bus = injector.get(CrossNodeBus)
    await bus.publish('t', 1)
    await injector[Symbol.asyncDispose]()

    expect(bus).toBeInstanceOf(RedisCrossNodeBus)
    expect(published).toEqual(['t'])
    await expect(bus.publish('t', 2)).rejects.toThrow('disposed')
  })
})
