import { afterEach, describe, expect, it, vi } from 'vitest'
import { InProcessCrossNodeBus, MemoryBroker } from '../src/index.js'
import { createInProcessBusNetwork } from '../src/testing/index.js'
import { recorder } from './support/recorder.js'
import { telemetryLog } from './support/telemetryLog.js'

afterEach(() => {
  vi.restoreAllMocks()
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
