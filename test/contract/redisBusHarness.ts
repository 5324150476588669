import { type AnyRedisClient, RedisCrossNodeBus } from '@furystack/redis-cross-node-bus'

import type { OnFinished } from '../support/redisServer.js'
import { uniquePrefix } from '../support/redis.js'
import type { BusHarness, BusNeeds } from './busSuite.js'

/** Connects a client for buses whose keys begin with `space`. */
export type ConnectForBus = (space: string, ending: { onFinished: OnFinished }) => Promise<AnyRedisClient>

/** Buses over a client of some kind. The space is a hash tag, so that on a cluster all of them share a slot. */
export const redisBusHarness =
  (connect: ConnectForBus) =>
  async ({ nodeIds, topicPrefixes, telemetries, replayWindow }: BusNeeds): Promise<BusHarness> => {
    const closers: Array<() => void | Promise<void>> = []
    const space = `{${uniquePrefix('bus')}}`
    const client = await connect(space, { onFinished: (close) => closers.push(close) })
    // A test gives prefixes of its own, and others on this Redis must not hear it.
    const buses = nodeIds.map((nodeId, index) => {
      const bus = new RedisCrossNodeBus({
        client,
        serviceName: 'test',
        nodeId,
        topicPrefix: `${space}${topicPrefixes[index] ?? ''}`,
        replayWindow,
        telemetry: telemetries[index],
      })
      const subscribeForeign = bus.subscribeForeign.bind(bus)
      const whenReady = bus.whenReady.bind(bus)
      bus.subscribeForeign = (prefix, topic, handler) => subscribeForeign(space + prefix, topic, handler)
      bus.whenReady = (topic, prefix) => whenReady(topic, prefix === undefined ? undefined : space + prefix)
      return bus
    })
    return {
      buses,
      startToken: '0-0',
      // Redis drops whole nodes of a stream, of 100 entries each.
      overflow: (window) => window + 250,
      dispose: async () => {
        await Promise.all(buses.map((bus) => bus[Symbol.asyncDispose]()))
        for (const close of closers) await close()
      },
    }
  }
