import { afterEach, describe, expect, it, vi } from 'vitest'
import { InProcessCrossNodeBus, MemoryBroker } from '../src/index.js'
import { createInProcessBusNetwork } from '../src/testing/index.js'
import { recorder } from './support/recorder.js'
import { telemetryLog } from './support/telemetryLog.js'

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

describe('order of deliveries', () => {
  it('B20: shows every handler message 1 before message 2, even if a handler publishes the second', async () => {
    using network = createInProcessBusNetwork({ count: 2 })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    const before = recorder()
    const after = recorder()
    const elsewhere = recorder()
    const nested: Array<Promise<void>> = []
    a.subscribe('t', before.handler)
    a.subscribe('t', ({ payload }) => {
      if (payload === 1) nested.push(a.publish('t', 2), b.publish('t', 3))
    })
    a.subscribe('t', after.handler)
    b.subscribe('t', elsewhere.handler)

    await a.publish('t', 1)
    await Promise.all(nested)

    expect(before.payloads).toEqual([1, 2, 3])
    expect(after.payloads).toEqual([1, 2, 3])
    expect(elsewhere.payloads).toEqual([1, 2, 3])
  })

  it('B20: has delivered everything, nested messages included, when the outer publish returns', () => {
    using bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    bus.subscribe('t', ({ payload }) => {
      if (typeof payload === 'number' && payload < 4) void bus.publish('t', payload + 1)
    })
    bus.subscribe('t', handler)

    void bus.publish('t', 1)

    expect(payloads).toEqual([1, 2, 3, 4])
  })

  it('B20: does not hold back another topic', async () => {
    using bus = new InProcessCrossNodeBus()
    const order: string[] = []
    bus.subscribe('question', () => {
      void bus.publish('answer', null)
      order.push('asked')
    })
    bus.subscribe('answer', () => order.push('answered'))

    await bus.publish('question', null)

    expect(order).toEqual(['answered', 'asked'])
  })

  it('B21: keeps a message from the handler whose creation it triggered', async () => {
    using bus = new InProcessCrossNodeBus()
    const late = recorder()
    using first = bus.subscribe('t', () => {
      bus.subscribe('t', late.handler)
    })

    await bus.publish('t', 1)
    expect(late.payloads).toEqual([])

    first[Symbol.dispose]()
    await bus.publish('t', 2)
    expect(late.payloads).toEqual([2])
  })

  it('B21: keeps back messages that were accepted, but not yet delivered, when the handler came', async () => {
    using network = createInProcessBusNetwork({ count: 2 })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    const late = recorder()
    const lateElsewhere = recorder()
    a.subscribe('t', ({ payload }) => {
      if (payload !== 1) return
      void a.publish('t', 2)
      a.subscribe('t', late.handler)
      b.subscribe('t', lateElsewhere.handler)
      void a.publish('t', 3)
    })

    await a.publish('t', 1)

    expect(late.payloads).toEqual([3])
    expect(lateElsewhere.payloads).toEqual([3])
  })

  it('B21: calls no handler that a sibling removed during the delivery, and still calls the next', async () => {
    using bus = new InProcessCrossNodeBus()
    const removed = recorder()
    const last = recorder()
    bus.subscribe('t', () => removal[Symbol.dispose]())
    const removal = bus.subscribe('t', removed.handler)
    bus.subscribe('t', last.handler)

    await bus.publish('t', 1)

    expect(removed.payloads).toEqual([])
    expect(last.payloads).toEqual([1])
  })

  it('B25: treats two subscriptions with the same function as two', async () => {
    using bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    const first = bus.subscribe('t', handler)
    bus.subscribe('t', handler)
    await bus.publish('t', 1)
    expect(payloads).toEqual([1, 1])

    first[Symbol.dispose]()
    first[Symbol.dispose]()
    await bus.publish('t', 2)
    expect(payloads).toEqual([1, 1, 2])
  })
})

describe('failing handlers', () => {
  it('calls the siblings and reports one error with phase subscribe', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry, topicPrefix: 'p/' })
    const failure = new Error('no')
    const { handler, payloads } = recorder()
    bus.subscribe('t', () => {
      throw failure
    })
    bus.subscribe('t', handler)

    await bus.publish('t', 1)

    expect(payloads).toEqual([1])
    expect(log.onCrossNodeError).toEqual([{ topic: 't', error: failure, phase: 'subscribe' }])
  })

  it('reports to the bus of the handler, not to that of the publisher', async () => {
    const [publisher, receiver] = [telemetryLog(), telemetryLog()]
    using network = createInProcessBusNetwork({
      count: 2,
      telemetries: [publisher.telemetry, receiver.telemetry],
    })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    b.subscribe('t', () => {
      throw new Error('no')
    })

    await a.publish('t', 1)

    expect(publisher.onCrossNodeError).toEqual([])
    expect(receiver.onCrossNodeError).toHaveLength(1)
  })

  it('reports a foreign handler under the phase and the topic it subscribed with', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry, topicPrefix: 'a/' })
    const [own, foreign] = [new Error('own'), new Error('foreign')]
    bus.subscribe('b/t', () => {
      throw own
    })
    bus.subscribeForeign('a/b/', 't', () => {
      throw foreign
    })

    await bus.publish('b/t', 1)

    expect(log.onCrossNodeError).toEqual([
      { topic: 'b/t', error: own, phase: 'subscribe' },
      { topic: 't', error: foreign, phase: 'subscribeForeign' },
    ])
  })

  it('B27: reports the rejection of an asynchronous handler', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry })
    const failure = new Error('later')
    const reported = new Promise((resolve) => log.telemetry.addListener('onCrossNodeError', resolve))
    bus.subscribe('t', async () => {
      await Promise.resolve()
      throw failure
    })

    await bus.publish('t', 1)

    expect(await reported).toEqual({ topic: 't', error: failure, phase: 'subscribe' })
  })

  it('B27: writes the rejection to the console of a bus without telemetry', async () => {
    const failure = new Error('later')
    const written = new Promise<unknown[]>((resolve) => {
      vi.spyOn(console, 'error').mockImplementation((...args: unknown[]) => resolve(args))
    })
    using bus = new InProcessCrossNodeBus()
    bus.subscribe('t', () => Promise.reject(failure))

    await bus.publish('t', 1)

    expect(await written).toEqual([expect.stringContaining('"t"'), failure])
  })

  it('B27: hands rejections of direct subscribers of the broker to the publisher', async () => {
    using broker = new MemoryBroker()
    const failure = new Error('later')
    const handler = () => Promise.reject(failure)
    broker.subscribe('t', handler)

    const reported = await new Promise((resolve) =>
      broker.publish('t', 'a', 1, (...details) => {
        resolve(details)
      }),
    )

    expect(reported).toEqual([failure, handler])
  })
})
