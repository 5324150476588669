import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assertBusCapabilities,
  type CrossNodeBusCapabilities,
  InProcessCrossNodeBus,
  MemoryBroker,
  ReplayWindowExceededError,
  UnsupportedCapabilityError,
} from '../src/index.js'
import { assertProperty } from '../../../test/support/assertProperty.js'
import { collect } from './support/collect.js'
import { telemetryLog } from './support/telemetryLog.js'

/** A bus that has published the numbers 1 to `count` on topic t. */
async function busWith(count: number, replayWindow: number) {
  const bus = new InProcessCrossNodeBus({ replayWindow })
  for (let number = 1; number <= count; number++) await bus.publish('t', number)
  return bus
}

async function replayed(bus: InProcessCrossNodeBus, fromSeq: string) {
  return (await collect(bus.replay('t', fromSeq))).map(({ payload }) => payload)
}

describe('replay', () => {
  it('yields what comes strictly after the oldest retained token, oldest first', async () => {
    using bus = await busWith(5, 3)

    expect(bus.oldestSeq('t')).toBe('3')
    expect(await replayed(bus, '3')).toEqual([4, 5])
  })

  it('accepts the token right before the oldest, since nothing after it is missing', async () => {
    using bus = await busWith(5, 3)

    expect(await replayed(bus, '2')).toEqual([3, 4, 5])
  })

  it('throws at the call for a token whose successor was dropped', async () => {
    using bus = await busWith(5, 3)

    expect(() => bus.replay('t', '1')).toThrow(
      expect.objectContaining({ name: 'ReplayWindowExceededError', topic: 't', fromSeq: '1', oldestRetainedSeq: '3' }),
    )
  })

  it('yields nothing after the newest token', async () => {
    using bus = await busWith(5, 3)

    expect(await replayed(bus, '5')).toEqual([])
  })

  it('yields nothing from the start of an unknown topic, and everything from that of an untrimmed one', async () => {
    using bus = await busWith(3, 3)

    expect(await collect(bus.replay('unknown', '0'))).toEqual([])
    expect(await replayed(bus, '0')).toEqual([1, 2, 3])
  })

  it('leaves out what is published after the call', async () => {
    using bus = await busWith(2, 3)
    const replay = bus.replay('t', '0')

    await bus.publish('t', 3)
    await bus.publish('t', 4)

    expect((await collect(replay)).map(({ payload }) => payload)).toEqual([1, 2])
  })

  it('reads the topic under the prefix of the bus', async () => {
    using broker = new MemoryBroker()
    using bus = new InProcessCrossNodeBus({ broker, topicPrefix: 'p/' })
    broker.publish('p/t', 'a', 'prefixed')
    broker.publish('t', 'a', 'plain')
    broker.publish('t', 'a', 'plain')

    expect(await replayed(bus, '0')).toEqual(['prefixed'])
    expect(bus.oldestSeq('t')).toBe('1')
  })

  it('reports a failed replay to telemetry as well', () => {
    const log = telemetryLog()
    using bus = new InProcessCrossNodeBus({ telemetry: log.telemetry, topicPrefix: 'p/' })

    expect(() => bus.replay('t', '1')).toThrow(ReplayWindowExceededError)
    expect(log.onCrossNodeError).toEqual([
      { topic: 't', phase: 'replay', error: expect.any(ReplayWindowExceededError) as unknown },
    ])
  })

  it('yields exactly the missing messages or fails, for every window and every token', async () => {
    await assertProperty(
      [fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 25 }), fc.integer({ min: 0, max: 27 })],
      async ([window, count, from]) => {
        using bus = await busWith(count, window)
        const missing = Array.from({ length: Math.max(count - from, 0) }, (_, index) => from + 1 + index)
        const complete = from <= count && missing.length <= window

        if (complete) expect(await replayed(bus, String(from))).toEqual(missing)
        else expect(() => bus.replay('t', String(from))).toThrow(ReplayWindowExceededError)
        expect(bus.oldestSeq('t')).toBe(count === 0 ? undefined : String(Math.max(1, count - window + 1)))
      },
    )
  })

  it('B23: refuses a token from the future, as kept by a client from before a restart', async () => {
    using restarted = await busWith(2, 10)

    expect(() => restarted.replay('t', '7')).toThrow(ReplayWindowExceededError)
    expect(() => restarted.replay('t', '3')).toThrow(ReplayWindowExceededError)
    expect(() => restarted.replay('unknown', '1')).toThrow(
      expect.objectContaining({ oldestRetainedSeq: undefined, message: expect.stringContaining('none') as unknown }),
    )
  })

  it.each(['-1', '1.5', '1e2', '0x1', '', ' 1', '1 ', 'one', 'NaN', '9007199254740993'])(
    'B26: refuses %j as a token to replay from',
    async (token) => {
      using bus = await busWith(3, 10)

      expect(() => bus.replay('t', token)).toThrow(RangeError)
    },
  )

  it('B29: raises UnsupportedCapabilityError at the call on a bus without replay', () => {
    class NoReplayBus extends InProcessCrossNodeBus {
      override readonly capabilities: CrossNodeBusCapabilities = Object.freeze({
        persistent: false,
        replay: false,
        assignsSequence: true,
        crossNodeDelivery: false,
      })
    }
    using bus = new NoReplayBus()

    expect(() => bus.replay('t', '0')).toThrow(UnsupportedCapabilityError)
    expect(() => bus.replay('t', '0')).toThrow(expect.objectContaining({ capability: 'replay' }))
  })

  it('B29: lets a facade refuse a bus that lacks what it needs', () => {
    using bus = new InProcessCrossNodeBus()

    expect(() => assertBusCapabilities(bus, 'replay', 'assignsSequence')).not.toThrow()
    expect(() => assertBusCapabilities(bus, 'replay', 'crossNodeDelivery', 'persistent')).toThrow(
      expect.objectContaining({
        name: 'UnsupportedCapabilityError',
        capability: 'crossNodeDelivery',
        message: expect.stringContaining('crossNodeDelivery') as unknown,
      }),
    )
  })
})

describe('compareSeq', () => {
  it('compares by number, not by text', () => {
    using bus = new InProcessCrossNodeBus()

    expect(bus.compareSeq('9', '10')).toBeLessThan(0)
    expect(bus.compareSeq('10', '9')).toBeGreaterThan(0)
    expect(bus.compareSeq('10', '10')).toBe(0)
  })

  it.each([
    ['', '1'],
    ['1', 'x'],
    ['1.5', '2'],
    ['1-0', '2-0'],
    ['-1', '1'],
  ])('B28: throws for %j against %j instead of returning NaN', (a, b) => {
    using bus = new InProcessCrossNodeBus()

    expect(() => bus.compareSeq(a, b)).toThrow(RangeError)
  })
})

describe('the errors', () => {
  it('mention all there is to know', () => {
    const error = new ReplayWindowExceededError('orders', '4', '9')

    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'ReplayWindowExceededError',
      topic: 'orders',
      fromSeq: '4',
      oldestRetainedSeq: '9',
    })
    expect(error.message).toMatch(/orders.*4.*9/)
    expect(new ReplayWindowExceededError('orders', '4', undefined).message).toContain('none')
  })
})
