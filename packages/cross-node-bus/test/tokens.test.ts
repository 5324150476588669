import { createInjector } from '@furystack/inject'
import { describe, expect, it } from 'vitest'
import {
  CrossNodeBus,
  CrossNodeBusTelemetry,
  CrossNodeBusTelemetryToken,
  defineInProcessCrossNodeBus,
  InProcessCrossNodeBus,
  MemoryBroker,
} from '../src/index.js'
import { recorder } from './support/recorder.js'

describe('the tokens', () => {
  it('are singletons with names for debugging', () => {
    expect(CrossNodeBus).toMatchObject({ name: 'furystack/cross-node-bus/CrossNodeBus', lifetime: 'singleton' })
    expect(CrossNodeBusTelemetryToken).toMatchObject({
      name: 'furystack/cross-node-bus/CrossNodeBusTelemetry',
      lifetime: 'singleton',
    })
  })

  it('give a working bus and its telemetry without configuration', async () => {
    await using injector = createInjector()
    const bus = injector.get(CrossNodeBus)
    const telemetry = injector.get(CrossNodeBusTelemetryToken)
    const { handler, payloads } = recorder()
    const published: unknown[] = []
    bus.subscribe('t', handler)
    telemetry.addListener('onCrossNodePublished', ({ topic }) => published.push(topic))

    await bus.publish('t', 'hello')

    expect(bus).toBeInstanceOf(InProcessCrossNodeBus)
    expect(telemetry).toBeInstanceOf(CrossNodeBusTelemetry)
    expect(payloads).toEqual(['hello'])
    expect(published).toEqual(['t'])
  })

  it('can be bound to a bus with options of its own, which shares the telemetry', async () => {
    await using injector = createInjector()
    using broker = new MemoryBroker()
    injector.bind(CrossNodeBus, defineInProcessCrossNodeBus({ broker, nodeId: 'n', topicPrefix: 'p/' }))
    const published: unknown[] = []
    injector.get(CrossNodeBusTelemetryToken).addListener('onCrossNodePublished', (event) => published.push(event))

    await injector.get(CrossNodeBus).publish('t', 1)

    expect(broker.oldestSeq('p/t')).toBe('1')
    expect(published).toEqual([{ topic: 't', originId: 'n', byteLength: 1 }])
  })

  it('dispose the bus and then the telemetry with the injector, and leave a shared broker alone', async () => {
    const injector = createInjector()
    using broker = new MemoryBroker()
    injector.bind(CrossNodeBus, defineInProcessCrossNodeBus({ broker }))
    const bus = injector.get(CrossNodeBus)
    const telemetry = injector.get(CrossNodeBusTelemetryToken)
    telemetry.addListener('onCrossNodeError', () => undefined)

    await injector[Symbol.asyncDispose]()

    await expect(bus.publish('t', 1)).rejects.toThrow(/disposed/)
    expect(telemetry.hasListeners('onCrossNodeError')).toBe(false)
    expect(broker.oldestSeq('t')).toBeUndefined()
  })
})
