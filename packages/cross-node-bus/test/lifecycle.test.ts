import { afterEach, describe, expect, it, vi } from 'vitest'
import { type CrossNodeBus, InProcessCrossNodeBus, MemoryBroker } from '../src/index.js'
import { createInProcessBusNetwork } from '../src/testing/index.js'
import { recorder } from './support/recorder.js'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the bus', () => {
  it('has a node id of its own unless it gets one', () => {
    const id = new InProcessCrossNodeBus().nodeId

    expect(id).toMatch(/^local-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    expect(new InProcessCrossNodeBus().nodeId).not.toBe(id)
    expect(new InProcessCrossNodeBus({ nodeId: 'n' }).nodeId).toBe('n')
  })

  it('states what it can do, for good', () => {
    const { capabilities } = new InProcessCrossNodeBus()

    expect(capabilities).toEqual({ persistent: false, replay: true, assignsSequence: true, crossNodeDelivery: false })
    expect(Object.isFrozen(capabilities)).toBe(true)
    expect(new InProcessCrossNodeBus().capabilities).toBe(capabilities)
  })

  it('refuses a window that is not a positive integer, unless a broker makes it irrelevant', () => {
    using broker = new MemoryBroker()

    expect(() => new InProcessCrossNodeBus({ replayWindow: 0 })).toThrow(RangeError)
    expect(() => new InProcessCrossNodeBus({ replayWindow: 0, broker })).not.toThrow()
  })
})

describe('disposal', () => {
  it('makes publish and whenReady reject and everything else throw', async () => {
    const bus: CrossNodeBus = new InProcessCrossNodeBus()
    bus[Symbol.dispose]()
    bus[Symbol.dispose]()

    await expect(bus.publish('t', 1)).rejects.toThrow(/disposed/)
    await expect(bus.whenReady?.('t')).rejects.toThrow(/disposed/)
    expect(() => bus.subscribe('t', () => undefined)).toThrow(/disposed/)
    expect(() => bus.subscribeRemoteOnly('t', () => undefined)).toThrow(/disposed/)
    expect(() => bus.subscribeForeign('p/', 't', () => undefined)).toThrow(/disposed/)
    expect(() => bus.replay('t', '0')).toThrow(/disposed/)
    expect(() => bus.oldestSeq('t')).toThrow(/disposed/)
    expect(() => bus.compareSeq('1', '2')).toThrow(/disposed/)
  })

  it('ends the subscriptions at the shared broker, and leaves the broker to the others', async () => {
    using network = createInProcessBusNetwork({ count: 2 })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    const atA = recorder()
    const atB = recorder()
    const handle = a.subscribe('t', atA.handler)
    b.subscribe('t', atB.handler)

    a[Symbol.dispose]()
    await b.publish('t', 1)

    expect(atA.payloads).toEqual([])
    expect(atB.payloads).toEqual([1])
    expect(() => handle[Symbol.dispose]()).not.toThrow()
  })

  it('takes a private broker along', () => {
    const dispose = vi.spyOn(MemoryBroker.prototype, Symbol.dispose)
    const bus = new InProcessCrossNodeBus()

    bus[Symbol.dispose]()

    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['the last handler leaves', (handle: Disposable) => handle],
    ['the bus is disposed', (_handle: Disposable, bus: Disposable) => bus],
  ])('frees the topic at a shared broker when %s', async (_when, whatToDispose) => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    using bus = new InProcessCrossNodeBus({ broker })
    const handle = bus.subscribe('t', () => undefined)
    await bus.publish('t', 1)
    broker.publish('other', 'x', 1)
    expect(broker.oldestSeq('t')).toBe('1')

    whatToDispose(handle, bus)[Symbol.dispose]()

    // The broker may now keep only one of the two, and counts `t` as the one used last.
    expect(['t', 'other'].map((topic) => broker.oldestSeq(topic))).toEqual(['1', undefined])
  })

  it('reaches no further handler once one of them has disposed the bus', async () => {
    const bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    bus.subscribe('t', () => {
      void bus.publish('t', 2)
      bus[Symbol.dispose]()
    })
    bus.subscribe('t', handler)

    await bus.publish('t', 1)

    expect(payloads).toEqual([])
  })

  it('drops no message between the handlers of a topic when the first one leaves', async () => {
    using bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    const first = bus.subscribe('t', () => undefined)
    bus.subscribe('t', handler)
    first[Symbol.dispose]()

    await bus.publish('t', 1)

    expect(payloads).toEqual([1])
  })

  it('lets a handle of an earlier subscription not end a later one', async () => {
    using bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    const earlier = bus.subscribe('t', () => undefined)
    earlier[Symbol.dispose]()
    bus.subscribe('t', handler)
    earlier[Symbol.dispose]()

    await bus.publish('t', 1)

    expect(payloads).toEqual([1])
  })

  it('B30: is available asynchronously through the interface', async () => {
    const bus: CrossNodeBus = new InProcessCrossNodeBus()

    await bus[Symbol.asyncDispose]?.()

    await expect(bus.publish('t', 1)).rejects.toThrow(/disposed/)
  })

  it('B30: works with await using', async () => {
    const disposed = await (async () => {
      await using bus = new InProcessCrossNodeBus()
      await bus.publish('t', 1)
      return bus
    })()

    expect(() => disposed.oldestSeq('t')).toThrow(/disposed/)
  })

  it('B30: offers whenReady, which says that a subscription gets what is published next', async () => {
    using bus: CrossNodeBus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    bus.subscribeForeign('p/', 't', handler)

    await expect(bus.whenReady?.('t', 'p/')).resolves.toBeUndefined()
    await bus.publish('p/t', 1)

    expect(payloads).toEqual([1])
  })
})
