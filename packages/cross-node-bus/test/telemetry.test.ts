import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CrossNodeBusTelemetry, InProcessCrossNodeBus, MemoryBroker } from '../src/index.js'
import { createInProcessBusNetwork } from '../src/testing/index.js'
import { telemetryLog } from './support/telemetryLog.js'

const now = Date.UTC(2024, 0, 1)

beforeEach(() => {
  vi.useFakeTimers({ now })
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('telemetry of a bus', () => {
  it('counts the UTF-8 bytes of the JSON text', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry, nodeId: 'a', topicPrefix: 'p/' })

    await bus.publish('t', 'ü')
    await bus.publish('t', undefined)

    expect(log.onCrossNodePublished).toEqual([
      { topic: 't', originId: 'a', byteLength: 4 },
      { topic: 't', originId: 'a', byteLength: 4 },
    ])
  })

  it('tells once per arrival and bus, and only where there is a handler', async () => {
    const logs = [telemetryLog(), telemetryLog(), telemetryLog()] as const
    using network = createInProcessBusNetwork({
      count: 3,
      nodeIds: ['a', 'b', 'c'],
      telemetries: logs.map(({ telemetry }) => telemetry),
    })
    const [a, b] = network.buses as [InProcessCrossNodeBus, InProcessCrossNodeBus]
    a.subscribe('t', () => undefined)
    b.subscribe('t', () => undefined)
    b.subscribe('t', () => undefined)

    await a.publish('t', 1)

    const arrival = { topic: 't', originId: 'a', lagMs: 0 }
    expect(logs.map((log) => log.onCrossNodeReceived)).toEqual([[arrival], [arrival], []])
  })

  it('measures the lag by the clock of the receiver, also when that is behind', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry })
    bus.subscribe('t', () => undefined)
    log.telemetry.addListener('onCrossNodePublished', () => {
      vi.setSystemTime(now - 40)
    })

    await bus.publish('t', 1)

    expect(log.onCrossNodeReceived).toMatchObject([{ lagMs: -40 }])
  })

  it('B22: tells of the publication before the arrival, and of the arrival before the handlers run', async () => {
    const { telemetry, order } = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry })
    bus.subscribe('t', ({ payload }) => order.push(`handler ${String(payload)}`))

    await bus.publish('t', 1)

    expect(order).toEqual(['onCrossNodePublished', 'onCrossNodeReceived', 'handler 1'])
  })

  it('B22: keeps the causal order when a handler publishes', async () => {
    const { telemetry, order } = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry })
    bus.subscribe('t', ({ payload }) => {
      order.push(`handler ${String(payload)}`)
      if (payload === 1) void bus.publish('t', 2)
    })

    await bus.publish('t', 1)

    expect(order).toEqual([
      'onCrossNodePublished',
      'onCrossNodeReceived',
      'handler 1',
      'onCrossNodePublished',
      'onCrossNodeReceived',
      'handler 2',
    ])
  })

  it('B22: delivers in order even if a telemetry listener publishes', async () => {
    using telemetry = new CrossNodeBusTelemetry()
    using bus = new InProcessCrossNodeBus({ telemetry })
    const payloads: unknown[] = []
    bus.subscribe('t', ({ payload }) => payloads.push(payload))
    const once = telemetry.subscribe('onCrossNodePublished', () => {
      once[Symbol.dispose]()
      void bus.publish('t', 2)
    })

    await bus.publish('t', 1)

    expect(payloads).toEqual([1, 2])
  })

  it('B22: tells of no arrival before every listener knows of the publication', async () => {
    using telemetry = new CrossNodeBusTelemetry()
    using bus = new InProcessCrossNodeBus({ telemetry })
    const order: string[] = []
    bus.subscribe('t', () => undefined)
    const once = telemetry.subscribe('onCrossNodePublished', () => {
      once[Symbol.dispose]()
      void bus.publish('t', 2)
    })
    telemetry.addListener('onCrossNodePublished', () => order.push('published'))
    telemetry.addListener('onCrossNodeReceived', () => order.push('received'))

    await bus.publish('t', 1)

    expect(order).toEqual(['published', 'published', 'received', 'received'])
  })

  it('tells of no arrival that comes too early for every handler that is left', async () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry })
    const early = bus.subscribe('t', () => {
      void bus.publish('t', 2)
      bus.subscribe('t', () => undefined)
      early[Symbol.dispose]()
    })

    await bus.publish('t', 1)

    expect(log.order).toEqual(['onCrossNodePublished', 'onCrossNodeReceived', 'onCrossNodePublished'])
    expect(write).not.toHaveBeenCalled()
  })

  it('tells of evictions from a private broker, counted after the drop, under the name of the caller', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry, topicPrefix: 'p/', replayWindow: 1 })

    await bus.publish('t', 1)
    expect(log.onCrossNodeWindowEvicted).toEqual([])
    await bus.publish('t', 2)

    expect(log.onCrossNodeWindowEvicted).toEqual([{ topic: 't', evictedSeq: '1', retainedCount: 1 }])
    expect(log.order.slice(-2)).toEqual(['onCrossNodePublished', 'onCrossNodeWindowEvicted'])
  })

  it('keeps silent about the evictions of a shared broker', async () => {
    const log = telemetryLog()
    using broker = new MemoryBroker({ replayWindow: 1 })
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry, broker })

    await bus.publish('t', 1)
    await bus.publish('t', 2)

    expect(log.order).toEqual(['onCrossNodePublished', 'onCrossNodePublished'])
  })

  it('reports a refusing transport with phase publish, and rejects', async () => {
    const log = telemetryLog()
    const broker = new MemoryBroker()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry, broker })
    broker[Symbol.dispose]()

    const error: unknown = await bus.publish('t', 1).catch((reason: unknown) => reason)

    expect(error).toMatchObject({ message: expect.stringContaining('disposed') as unknown })
    expect(log.onCrossNodeError).toEqual([{ topic: 't', error, phase: 'publish' }])
  })

  it('survives a failing telemetry listener', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry })
    const failure = new Error('no')
    log.telemetry.addListener('onCrossNodePublished', () => {
      throw failure
    })

    await bus.publish('t', 1)

    expect(log.onListenerError).toEqual([{ event: 'onCrossNodePublished', error: failure }])
  })

  it('writes a handler error to the console if nobody listens for errors', async () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    using telemetry = new CrossNodeBusTelemetry()
    using bus = new InProcessCrossNodeBus({ telemetry })
    const failure = new Error('no')
    bus.subscribe('t', () => {
      throw failure
    })

    await bus.publish('t', 1)

    expect(write.mock.calls).toEqual([[expect.stringContaining('"t"'), failure]])
  })
})
