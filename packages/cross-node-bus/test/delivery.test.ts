import { afterEach, describe, expect, it, vi } from 'vitest'
import { InProcessCrossNodeBus, MemoryBroker } from '../src/index.js'
import { createInProcessBusNetwork } from '../src/testing/index.js'
import { recorder } from './support/recorder.js'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('between buses', () => {
  it('lets each bus see its own and the other messages, in one order with increasing tokens', async () => {
    using network = createInProcessBusNetwork({ count: 2, nodeIds: ['a', 'b'] })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    const atA = recorder()
    const atB = recorder()
    a.subscribe('t', atA.handler)
    b.subscribe('t', atB.handler)

    await a.publish('t', 1)
    await b.publish('t', 2)
    await a.publish('t', 3)

    expect(atA.messages.map(({ originId, seq, payload }) => [originId, seq, payload])).toEqual([
      ['a', '1', 1],
      ['b', '2', 2],
      ['a', '3', 3],
    ])
    expect(atB.messages).toEqual(atA.messages)
  })

  it('wraps the payload in version 1 of the envelope, with the time of publication', async () => {
    vi.useFakeTimers({ now: Date.UTC(2024, 1, 29, 12) })
    try {
      using bus = new InProcessCrossNodeBus({ nodeId: 'a' })
      const { handler, messages } = recorder()
      bus.subscribe('t', handler)

      await bus.publish('t', 'hello')

      expect(messages).toEqual([
        { v: 1, originId: 'a', emittedAt: '2024-02-29T12:00:00.000Z', seq: '1', payload: 'hello' },
      ])
    } finally {
      vi.useRealTimers()
    }
  })

  it('numbers each topic on its own', async () => {
    using bus = new InProcessCrossNodeBus()
    const { handler, messages } = recorder()
    bus.subscribe('x', handler)
    bus.subscribe('__proto__', handler)

    await bus.publish('x', null)
    await bus.publish('__proto__', null)

    expect(messages.map(({ seq }) => seq)).toEqual(['1', '1'])
  })

  it('leaves out exactly the own messages in subscribeRemoteOnly', async () => {
    using network = createInProcessBusNetwork({ count: 2 })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    const { handler, payloads } = recorder()
    a.subscribeRemoteOnly('t', handler)

    await a.publish('t', 'own')
    await b.publish('t', 'remote')

    expect(payloads).toEqual(['remote'])
  })

  it('keeps prefixes apart, except for subscribeForeign', async () => {
    using network = createInProcessBusNetwork({ count: 2, topicPrefixes: ['a/', 'b/'] })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    const own = recorder()
    const foreign = recorder()
    b.subscribe('t', own.handler)
    b.subscribeForeign('a/', 't', foreign.handler)

    await a.publish('t', 'from a')
    await b.publish('t', 'from b')

    expect(own.payloads).toEqual(['from b'])
    expect(foreign.payloads).toEqual(['from a'])
  })

  it('delivers nothing that was published before the subscription', async () => {
    using bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    await bus.publish('t', 'old')
    bus.subscribe('t', handler)

    await bus.publish('t', 'new')

    expect(payloads).toEqual(['new'])
  })

  it('takes one subscription at the broker per topic, for as long as there are handlers', () => {
    using broker = new MemoryBroker()
    using bus = new InProcessCrossNodeBus({ broker, topicPrefix: 'p/' })
    const subscribe = vi.spyOn(broker, 'subscribe')

    const first = bus.subscribe('t', () => undefined)
    const second = bus.subscribeForeign('p/', 't', () => undefined)
    first[Symbol.dispose]()
    bus.subscribeRemoteOnly('t', () => undefined)
    expect(subscribe.mock.calls.map(([topic]) => topic)).toEqual(['p/t'])

    second[Symbol.dispose]()
    bus.subscribe('u', () => undefined)
    expect(subscribe.mock.calls.map(([topic]) => topic)).toEqual(['p/t', 'p/u'])
  })
})
