import { describe, expect, it, vi } from 'vitest'
import { MemoryBroker, ReplayWindowExceededError } from '../src/index.js'
import { collect } from './support/collect.js'
import { recorder } from './support/recorder.js'

describe('idle topics', () => {
  it('B24: releases the topics that have been idle for longest, and tells what was dropped', () => {
    const onEviction = vi.fn()
    using broker = new MemoryBroker({ maxIdleTopics: 2, onEviction })
    broker.publish('a', 'x', 1)
    broker.publish('a', 'x', 2)
    broker.publish('b', 'x', 1)
    broker.publish('a', 'x', 3)

    broker.publish('c', 'x', 1)
    expect(onEviction.mock.calls).toEqual([['b', '1', 0]])
    broker.publish('d', 'x', 1)

    expect(onEviction.mock.calls.slice(1)).toEqual([
      ['a', '1', 2],
      ['a', '2', 1],
      ['a', '3', 0],
    ])
    const retained = ['a', 'b', 'c', 'd'].map((topic) => broker.oldestSeq(topic) !== undefined)
    expect(retained).toEqual([false, false, true, true])
  })

  it('B24: retains no more than 1000 idle topics by default, however many there have been', () => {
    using broker = new MemoryBroker()
    const topics = Array.from({ length: 2500 }, (_, index) => `topic/${index}`)

    for (const topic of topics) broker.publish(topic, 'x', null)

    expect(topics.filter((topic) => broker.oldestSeq(topic) !== undefined)).toEqual(topics.slice(-1000))
  })

  it('B24: keeps a topic while it has subscribers, and counts it as idle from the last one on', () => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    const first = broker.subscribe('watched', () => undefined)
    const second = broker.subscribe('watched', () => undefined)
    broker.publish('watched', 'x', 1)
    broker.publish('a', 'x', 1)
    first[Symbol.dispose]()
    broker.publish('b', 'x', 1)
    expect(['watched', 'a', 'b'].map((topic) => broker.oldestSeq(topic))).toEqual(['1', undefined, '1'])

    second[Symbol.dispose]()
    expect(['watched', 'b'].map((topic) => broker.oldestSeq(topic))).toEqual(['1', undefined])

    using _again = broker.subscribe('watched', () => undefined)
    broker.publish('c', 'x', 1)
    broker.publish('d', 'x', 1)
    expect(broker.oldestSeq('watched')).toBe('1')
  })

  it('B24: never mistakes a token from before the release for a later position', () => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    for (let count = 0; count < 3; count++) broker.publish('a', 'x', count)
    broker.publish('b', 'x', 1)

    expect(() => broker.replay('a', '1')).toThrow(ReplayWindowExceededError)
    const reopened = broker.publish('a', 'x', 'again')
    expect(Number(reopened.seq)).toBeGreaterThan(3)
    expect(() => broker.replay('a', '1')).toThrow(ReplayWindowExceededError)
  })

  it('B24: gives an unknown topic no benefit of the doubt once any topic was released', async () => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    broker.publish('a', 'x', 1)
    expect(await collect(broker.replay('unknown', '0'))).toEqual([])

    broker.publish('b', 'x', 1)

    expect(() => broker.replay('a', '0')).toThrow(ReplayWindowExceededError)
    expect(() => broker.replay('unknown', '0')).toThrow(ReplayWindowExceededError)
    expect(await collect(broker.replay('unknown', broker.newestSeq('unknown')))).toEqual([])
  })

  it('B24: remembers the highest number of all released topics', () => {
    using broker = new MemoryBroker({ maxIdleTopics: 2 })
    for (let count = 0; count < 3; count++) broker.publish('high', 'x', count)
    broker.publish('low', 'x', 1)
    broker.publish('a', 'x', 1)
    broker.publish('b', 'x', 1)

    expect(['high', 'low'].map((topic) => broker.oldestSeq(topic))).toEqual([undefined, undefined])
    expect(() => broker.replay('high', '1')).toThrow(ReplayWindowExceededError)
    expect(broker.newestSeq('high')).toBe('3')
  })

  it('B24: forgets a topic that carried no message together with its last subscriber', () => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    broker.subscribe('silent', () => undefined)[Symbol.dispose]()
    broker.publish('a', 'x', 1)
    broker.publish('b', 'x', 1)

    expect(broker.newestSeq('silent')).toBe(broker.newestSeq('unknown'))
    expect(broker.newestSeq('unknown')).toBe('1')
  })

  it('B24: replays a topic that was opened again from its last token before the release', async () => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    for (let count = 0; count < 3; count++) broker.publish('a', 'x', count)
    broker.publish('b', 'x', 1)
    broker.publish('a', 'x', 'again')

    const replayed = await collect(broker.replay('a', '3'))

    expect(replayed.map(({ payload }) => payload)).toEqual(['again'])
  })

  it('B24: goes on delivering to whoever subscribes a released topic', () => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    broker.publish('a', 'x', 1)
    broker.publish('b', 'x', 1)
    const { handler, payloads } = recorder()
    broker.subscribe('a', handler)

    broker.publish('a', 'x', 'live')

    expect(payloads).toEqual(['live'])
  })

  it('B24: survives the release of a topic from within its own delivery', () => {
    using broker = new MemoryBroker({ maxIdleTopics: 1 })
    const later = recorder()
    const handle = broker.subscribe('a', () => {
      handle[Symbol.dispose]()
      broker.publish('b', 'x', 1)
      broker.subscribe('a', later.handler)
      broker.publish('a', 'x', 2)
    })

    broker.publish('a', 'x', 1)
    broker.publish('a', 'x', 3)

    expect(later.payloads).toEqual([2, 3])
  })
})
