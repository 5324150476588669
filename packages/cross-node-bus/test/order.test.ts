import { describe, expect, it } from 'vitest'
import { InProcessCrossNodeBus } from '../src/index.js'
import { createInProcessBusNetwork } from '../src/testing/index.js'
import { recorder } from './support/recorder.js'

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
