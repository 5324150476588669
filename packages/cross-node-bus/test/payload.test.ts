import { describe, expect, it } from 'vitest'
import { InProcessCrossNodeBus, MemoryBroker } from '../src/index.js'
import { collect } from './support/collect.js'
import { recorder } from './support/recorder.js'
import { telemetryLog } from './support/telemetryLog.js'

class Order {
  readonly id = 7
  readonly note = undefined
  total() {
    return 1
  }
}

const cycle: { self?: unknown } = {}
cycle.self = cycle

const cases: Array<[name: string, published: unknown, delivered: unknown]> = [
  ['undefined', undefined, null],
  ['null', null, null],
  ['a function', () => 1, null],
  ['a number JSON lacks', NaN, null],
  ['a date', new Date(Date.UTC(2024, 0, 1)), '2024-01-01T00:00:00.000Z'],
  [
    'a nested object',
    { list: [{ at: new Date(0), gone: undefined }, undefined] },
    { list: [{ at: '1970-01-01T00:00:00.000Z' }, null] },
  ],
  ['a class instance', new Order(), { id: 7 }],
  ['a map', new Map([[1, 2]]), {}],
  [
    'a flat object',
    { text: 'a', gone: undefined, none: null, no: false, lacking: NaN },
    { text: 'a', none: null, no: false, lacking: null },
  ],
  ['a key that sets prototypes', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
  ['an object with a toJSON of its own', { a: 1, toJSON: () => 'own' }, 'own'],
  ['a string', 'ünïcode \u{1f600}', 'ünïcode \u{1f600}'],
]

describe('payloads', () => {
  it.each(cases)('B18: delivers and replays %s as JSON makes it', async (_name, published, delivered) => {
    using bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    bus.subscribe('t', handler)

    await bus.publish('t', published)

    expect(payloads).toStrictEqual([delivered])
    expect((await collect(bus.replay('t', '0'))).map(({ payload }) => payload)).toStrictEqual([delivered])
  })

  it('B18: lets no receiver change what others and the replay see', async () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry })
    const { handler, payloads } = recorder()
    bus.subscribe('t', ({ payload }) => {
      ;(payload as { lines: Array<{ amount: number }> }).lines[0]!.amount = 99
    })
    bus.subscribe('t', (message) => {
      Object.assign(message, { payload: 'forged' })
    })
    bus.subscribe('t', handler)

    await bus.publish('t', { lines: [{ amount: 1 }] })

    expect(payloads).toEqual([{ lines: [{ amount: 1 }] }])
    expect(await collect(bus.replay('t', '0'))).toMatchObject([{ payload: { lines: [{ amount: 1 }] } }])
    expect(log.onCrossNodeError.map(({ error }) => error)).toEqual([expect.any(TypeError), expect.any(TypeError)])
  })

  it('B18: is not affected by what the publisher does to its object afterwards', async () => {
    using bus = new InProcessCrossNodeBus()
    const { handler, payloads } = recorder()
    bus.subscribe('t', handler)
    const draft = { amount: 1 }

    await bus.publish('t', draft)
    draft.amount = 2

    expect(payloads).toEqual([{ amount: 1 }])
  })

  it('B18: reads no property later than at the publication', async () => {
    using bus = new InProcessCrossNodeBus()
    let reads = 0
    const draft = {
      get amount() {
        return ++reads
      },
    }

    await bus.publish('t', draft)

    expect(await collect(bus.replay('t', '0'))).toMatchObject([{ payload: { amount: 1 } }])
    expect(await collect(bus.replay('t', '0'))).toMatchObject([{ payload: { amount: 1 } }])
  })

  it('B18: copes with nesting deeper than a recursive walk', async () => {
    using bus = new InProcessCrossNodeBus()
    let depth = 0
    bus.subscribe('t', ({ payload }) => {
      for (let level = payload; Array.isArray(level); level = level[0] as unknown)
        depth += Number(Object.isFrozen(level))
    })
    let nested: unknown[] = []
    for (let level = 1; level < 2_000; level++) nested = [nested]

    await bus.publish('t', nested)

    expect(depth).toBe(2_000)
  })

  it.each([
    ['a cycle', cycle],
    ['a bigint', 1n],
    [
      'a failing toJSON',
      {
        toJSON() {
          throw new TypeError('secret')
        },
      },
    ],
  ])('B19: rejects %s with phase serialize and delivers nothing', async (_name, payload) => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry })
    const { handler, payloads } = recorder()
    bus.subscribe('t', handler)

    const error: unknown = await bus.publish('t', payload).catch((reason: unknown) => reason)

    expect(error).toBeInstanceOf(TypeError)
    expect(log.onCrossNodeError).toEqual([{ topic: 't', error, phase: 'serialize' }])
    expect(payloads).toEqual([])
    expect(bus.oldestSeq('t')).toBeUndefined()
    expect(log.onCrossNodePublished).toEqual([])
  })

  it('B19: rejects without telemetry as well', async () => {
    using bus = new InProcessCrossNodeBus()

    await expect(bus.publish('t', cycle)).rejects.toThrow(TypeError)
  })

  it('B19: throws from the broker and uses up no number', () => {
    using broker = new MemoryBroker()

    expect(() => broker.publish('t', 'a', 1n)).toThrow(TypeError)
    expect(() => broker.publishSerialized('t', 'a', '{broken')).toThrow(SyntaxError)
    expect(broker.publish('t', 'a', 1).seq).toBe('1')
  })
})
