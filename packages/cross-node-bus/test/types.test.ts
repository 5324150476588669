import type { ServiceFactory, Token } from '@furystack/inject'
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type BusMessage,
  CrossNodeBus,
  CrossNodeBusTelemetry,
  type CrossNodeBusTelemetryEvents,
  CrossNodeBusTelemetryToken,
  type DefineInProcessCrossNodeBusOptions,
  defineInProcessCrossNodeBus,
  EventHub,
  InProcessCrossNodeBus,
  type InProcessCrossNodeBusOptions,
  type ListenerErrorPayload,
} from '../src/index.js'

describe('types', () => {
  it('make interface and token of the bus one name', () => {
    expectTypeOf(CrossNodeBus).toEqualTypeOf<Token<CrossNodeBus, 'singleton'>>()
    expectTypeOf(CrossNodeBusTelemetryToken).toEqualTypeOf<Token<CrossNodeBusTelemetry, 'singleton'>>()
    expectTypeOf(defineInProcessCrossNodeBus()).toEqualTypeOf<ServiceFactory<CrossNodeBus>>()
    expect(CrossNodeBus.isAsync).toBe(false)
  })

  it('give a message an unknown payload and read-only fields', () => {
    expectTypeOf<BusMessage['payload']>().toBeUnknown()
    expectTypeOf<BusMessage['v']>().toEqualTypeOf<1>()
    expectTypeOf<BusMessage>().toEqualTypeOf<Readonly<BusMessage>>()
    const frozen = (message: BusMessage) => {
      // @ts-expect-error -- a receiver must not change the envelope
      message.originId = 'forged'
    }
    expect(() => frozen(Object.freeze<BusMessage>({ v: 1, originId: 'a', emittedAt: '', payload: null }))).toThrow(
      TypeError,
    )
  })

  it('accept synchronous and asynchronous handlers, whatever they return', () => {
    const bus: CrossNodeBus = new InProcessCrossNodeBus()
    const list: BusMessage[] = []
    const handles = [
      bus.subscribe('t', (message) => list.push(message)),
      bus.subscribe('t', async (message: BusMessage) => {
        await Promise.resolve(message)
      }),
      // @ts-expect-error -- a handler gets a message, not a payload
      bus.subscribe('t', (payload: string) => payload),
    ]
    expectTypeOf(handles).toEqualTypeOf<Disposable[]>()
    expect(handles).toHaveLength(3)
  })

  it('let a bus do without whenReady and asynchronous disposal', () => {
    expectTypeOf<CrossNodeBus['whenReady']>().toEqualTypeOf<
      ((topic: string, prefix?: string) => Promise<void>) | undefined
    >()
    expectTypeOf<undefined>().toExtend<CrossNodeBus[typeof Symbol.asyncDispose]>()
    expectTypeOf<InProcessCrossNodeBus>().toExtend<AsyncDisposable>()
    expectTypeOf<Omit<CrossNodeBus, 'whenReady' | typeof Symbol.asyncDispose>>().toExtend<CrossNodeBus>()
    expect(new InProcessCrossNodeBus()).toHaveProperty('whenReady')
  })

  it('take everything but telemetry in the options of the factory', () => {
    expectTypeOf<DefineInProcessCrossNodeBusOptions>().toEqualTypeOf<Omit<InProcessCrossNodeBusOptions, 'telemetry'>>()
    // @ts-expect-error -- telemetry comes from the injector
    expect(defineInProcessCrossNodeBus({ telemetry: new CrossNodeBusTelemetry() })).toBeTypeOf('function')
  })

  it('know the payload of each event', () => {
    const telemetry = new CrossNodeBusTelemetry()
    telemetry.subscribe('onCrossNodeReceived', (event) => {
      expectTypeOf(event).toEqualTypeOf<CrossNodeBusTelemetryEvents['onCrossNodeReceived']>()
      expectTypeOf(event.lagMs).toBeNumber()
    })
    telemetry.subscribe('onListenerError', (event) => expectTypeOf(event).toExtend<ListenerErrorPayload>())
    // @ts-expect-error -- no such event
    telemetry.subscribe('onNothing', () => undefined)
    // @ts-expect-error -- the payload lacks `byteLength`
    telemetry.emit('onCrossNodePublished', { topic: 't', originId: 'a' })
    expect(telemetry).toBeInstanceOf(EventHub)
  })

  it('let a hub with events of its own be extended', () => {
    interface ShopEvents {
      onSold: { article: string }
    }
    class Shop extends EventHub<ShopEvents> {
      sell(article: string) {
        if (this.hasListeners('onSold')) this.emit('onSold', { article })
      }
    }
    const shop = new Shop()
    const sold: string[] = []
    shop.addListener('onSold', ({ article }) => sold.push(article))
    shop.addListener('onListenerError', ({ event }) => expectTypeOf(event).toBeString())
    shop.sell('tea')
    expect(sold).toEqual(['tea'])
  })
})
