import { afterEach, describe, expect, it, vi } from 'vitest'
import { MemoryBroker } from '../src/index.js'
import { recorder } from './support/recorder.js'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('MemoryBroker', () => {
  it('retains 1000 messages per topic unless told otherwise', () => {
    expect(new MemoryBroker().replayWindow).toBe(1000)
    expect(new MemoryBroker({ replayWindow: 5 }).replayWindow).toBe(5)
  })

  it.each([0, -1, 1.5, NaN, Infinity])('refuses %d as a window and as a number of topics', (value) => {
    expect(() => new MemoryBroker({ replayWindow: value })).toThrow(RangeError)
    expect(() => new MemoryBroker({ maxIdleTopics: value })).toThrow(RangeError)
  })

  it('returns the message it delivers', () => {
    using broker = new MemoryBroker()
    const { handler, messages } = recorder()
    broker.subscribe('t', handler)

    const message = broker.publish('t', 'a', { x: 1 })

    expect(message).toMatchObject({ v: 1, originId: 'a', seq: '1', payload: { x: 1 } })
    expect(messages).toEqual([message])
  })

  it('tells of each message it drops, with what remains', () => {
    const onEviction = vi.fn()
    using broker = new MemoryBroker({ replayWindow: 2, onEviction })

    for (let count = 0; count < 4; count++) broker.publish('t', 'a', count)

    expect(onEviction.mock.calls).toEqual([
      ['t', '1', 2],
      ['t', '2', 2],
    ])
  })

  it('keeps a failing eviction callback from harming the publication', () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const failure = new Error('no')
    using broker = new MemoryBroker({
      replayWindow: 1,
      onEviction: () => {
        throw failure
      },
    })
    const { handler, payloads } = recorder()
    broker.subscribe('t', handler)

    broker.publish('t', 'a', 1)
    broker.publish('t', 'a', 2)

    expect(payloads).toEqual([1, 2])
    expect(write.mock.calls).toEqual([[expect.any(String), failure]])
  })

  it('hands the error of a subscriber to the publisher and calls the next', () => {
    using broker = new MemoryBroker()
    const failure = new Error('no')
    const failing = () => {
      throw failure
    }
    const { handler, payloads } = recorder()
    broker.subscribe('t', failing)
    broker.subscribe('t', handler)
    const onSubscriberError = vi.fn()

    broker.publish('t', 'a', 1, onSubscriberError)

    expect(onSubscriberError.mock.calls).toEqual([[failure, failing]])
    expect(payloads).toEqual([1])
  })

  it('writes the error of a subscriber to the console if the publisher does not care', () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    using broker = new MemoryBroker()
    const failure = new Error('no')
    broker.subscribe('t', () => {
      throw failure
    })

    broker.publish('t', 'a', 1)

    expect(write.mock.calls).toEqual([[expect.any(String), failure]])
  })

  it('knows the last token it issued, retained or not', () => {
    using broker = new MemoryBroker({ replayWindow: 1 })
    expect(broker.newestSeq('t')).toBe('0')

    broker.publish('t', 'a', 1)
    broker.publish('t', 'a', 2)

    expect(broker.newestSeq('t')).toBe('2')
    expect(broker.oldestSeq('t')).toBe('2')
  })

  it('B25: wraps each registration, so that one disposal ends one', () => {
    using broker = new MemoryBroker()
    const { handler, payloads } = recorder()
    const first = broker.subscribe('t', handler)
    broker.subscribe('t', handler)

    broker.publish('t', 'a', 1)
    first[Symbol.dispose]()
    broker.publish('t', 'a', 2)

    expect(payloads).toEqual([1, 1, 2])
  })

  it('throws after disposal, from the handlers of a running delivery too', () => {
    const broker = new MemoryBroker()
    const { handler, payloads } = recorder()
    const handle = broker.subscribe('t', () => broker[Symbol.dispose]())
    broker.subscribe('t', handler)

    broker.publish('t', 'a', 1)

    expect(payloads).toEqual([])
    expect(() => broker.publish('t', 'a', 1)).toThrow(/disposed/)
    expect(() => broker.subscribe('t', handler)).toThrow(/disposed/)
    expect(() => broker.oldestSeq('t')).toThrow(/disposed/)
    expect(() => broker.newestSeq('t')).toThrow(/disposed/)
    expect(() => broker.replay('t', '0')).toThrow(/disposed/)
    expect(() => handle[Symbol.dispose]()).not.toThrow()
    expect(() => broker[Symbol.dispose]()).not.toThrow()
  })
})
