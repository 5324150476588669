import { describe, expect, it, vi } from 'vitest'
import { CrossNodeBusTelemetry, MemoryBroker } from '../src/index.js'
import { createInProcessBusNetwork } from '../src/testing/index.js'

describe('createInProcessBusNetwork', () => {
  it('makes as many buses as asked for, on one broker', async () => {
    using network = createInProcessBusNetwork({ count: 3, replayWindow: 7 })

    await network.buses[2]?.publish('t', 1)

    expect(network.buses).toHaveLength(3)
    expect(new Set(network.buses.map(({ nodeId }) => nodeId)).size).toBe(3)
    expect(network.broker).toBeInstanceOf(MemoryBroker)
    expect(network.broker.replayWindow).toBe(7)
    expect(network.broker.oldestSeq('t')).toBe('1')
  })

  it('hands each bus its entry of the lists', async () => {
    const telemetries = [new CrossNodeBusTelemetry(), new CrossNodeBusTelemetry()]
    const published: string[] = []
    telemetries[1]?.addListener('onCrossNodePublished', ({ originId }) => published.push(originId))
    using network = createInProcessBusNetwork({
      count: 2,
      nodeIds: ['a', 'b'],
      topicPrefixes: ['a/', 'b/'],
      telemetries,
    })

    for (const bus of network.buses) await bus.publish('t', 1)

    expect(network.buses.map(({ nodeId }) => nodeId)).toEqual(['a', 'b'])
    expect(['a/t', 'b/t', 't'].map((topic) => network.broker.oldestSeq(topic))).toEqual(['1', '1', undefined])
    expect(published).toEqual(['b'])
  })

  it.each([0, -1, 1.5, NaN])('refuses %d buses', (count) => {
    expect(() => createInProcessBusNetwork({ count })).toThrow(RangeError)
  })

  it('refuses lists that do not fit the number of buses', () => {
    expect(() => createInProcessBusNetwork({ count: 2, nodeIds: ['a'] })).toThrow(/nodeIds/)
    expect(() => createInProcessBusNetwork({ count: 2, topicPrefixes: ['a', 'b', 'c'] })).toThrow(/topicPrefixes/)
    expect(() => createInProcessBusNetwork({ count: 2, telemetries: [] })).toThrow(RangeError)
  })

  it('disposes the last bus first and the broker at the end', () => {
    const network = createInProcessBusNetwork({ count: 2, nodeIds: ['a', 'b'] })
    const order: string[] = []
    for (const [name, target] of [
      ['a', network.buses[0]],
      ['b', network.buses[1]],
      ['broker', network.broker],
    ] as const) {
      const dispose = target![Symbol.dispose].bind(target)
      vi.spyOn(target!, Symbol.dispose).mockImplementation(() => {
        order.push(name)
        dispose()
      })
    }

    network[Symbol.dispose]()

    expect(order).toEqual(['b', 'a', 'broker'])
    expect(() => network.broker.oldestSeq('t')).toThrow(/disposed/)
  })
})
