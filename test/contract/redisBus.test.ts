import { RedisCrossNodeBus } from '@furystack/redis-cross-node-bus'

import { connectClient, uniquePrefix } from '../support/redis.js'
import { busSuite } from './busSuite.js'

busSuite('RedisCrossNodeBus', async ({ nodeIds, topicPrefixes, telemetries, replayWindow }) => {
  const closers: Array<() => void> = []
  const client = await connectClient({ onFinished: (close) => closers.push(close) })
  const space = uniquePrefix('bus')
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
      for (const close of closers) close()
    },
  }
})
