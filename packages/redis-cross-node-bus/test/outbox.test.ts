import fc from 'fast-check'
import { asyncScheduler } from 'rxjs'
import { TestScheduler } from 'rxjs/testing'
import { describe, expect, it } from 'vitest'

import { Outbox } from '../src/publishing/outbox.js'
import type { Outgoing } from '../src/publishing/outgoing.js'

const limits = { maxMessages: 5, maxBytes: 40, maxAgeMs: 100 }

const message = (name: number, byteLength: number, ends: Map<number, string>, since = 0): Outgoing => ({
  topic: 't',
  key: 't',
  json: String(name),
  emittedAt: '',
  byteLength,
  since,
  accept: () => ends.set(name, 'accepted'),
  fail: (reason) => ends.set(name, reason),
  abort: () => ends.set(name, 'aborted'),
})

describe('the outbox', () => {
  it('gives each message one end, keeps the order, and is bounded while it is offline', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), bytes: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ kind: fc.constant('send' as const), accepted: fc.nat(8) }),
      fc.record({ kind: fc.constant('online' as const), is: fc.boolean() }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const outbox = new Outbox(limits, asyncScheduler)
        const ends = new Map<number, string>()
        const sent: number[] = []
        const waiting = new Map<number, number>()
        let isOnline = false
        let count = 0
        for (const at of steps) {
          if (at.kind === 'online') outbox.isOnline = isOnline = at.is
          if (at.kind === 'add') {
            waiting.set(++count, at.bytes)
            outbox.add(message(count, at.bytes, ends, Date.now()))
          }
          if (at.kind === 'send') {
            const batch = outbox.take()
            const accepted = batch.slice(0, at.accepted)
            for (const one of accepted) one.accept('')
            sent.push(...accepted.map(({ json }) => Number(json)))
            outbox.settled(batch.slice(at.accepted))
          }
          for (const name of ends.keys()) waiting.delete(name)
          if (!isOnline && at.kind !== 'send') {
            expect(waiting.size).toBeLessThanOrEqual(limits.maxMessages)
            const bytes = [...waiting.values()].reduce((sum, size) => sum + size, 0)
            expect(bytes <= limits.maxBytes || waiting.size === 1).toBe(true)
          }
        }
        outbox.close()

        expect(sent).toEqual([...sent].sort((a, b) => a - b))
        expect(ends.size).toBe(count)
        expect(sent.every((name) => ends.get(name) === 'accepted')).toBe(true)
      }),
    )
  })

  it('aborts what comes back after the end', () => {
    const outbox = new Outbox(limits, asyncScheduler)
    const ends = new Map<number, string>()
    outbox.isOnline = true
    outbox.add(message(1, 1, ends))
    const batch = outbox.take()
    outbox.close()
    outbox.settled(batch)

    expect(ends).toEqual(new Map([[1, 'aborted']]))
  })

  it('sends much in parts, and something that is larger than a part by itself', () => {
    const outbox = new Outbox({ ...limits, maxBytes: Infinity }, asyncScheduler)
    outbox.isOnline = true
    const sizes = [600_000, 600_000, 5_000_000, 1]
    sizes.forEach((size, index) => outbox.add(message(index, size, new Map())))

    const parts: number[] = []
    for (let batch = outbox.take(); batch.length > 0; batch = outbox.take()) {
      parts.push(batch.length)
      outbox.settled([])
    }
    expect(parts).toEqual([1, 1, 1, 1])
  })

  it('tells when there is something to send, when all is sent, and gives up what is too old', () => {
    const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected))
    scheduler.run(({ expectObservable, cold, flush }) => {
      const outbox = new Outbox(limits, scheduler)
      const ends = new Map<number, string>()
      cold('--a------b 200ms c').subscribe((at) => {
        if (at === 'a') outbox.add(message(1, 1, ends, scheduler.now()))
        if (at === 'b') outbox.settled(outbox.take().slice(1))
        if (at === 'c') outbox.add(message(2, 1, ends, scheduler.now() - 100))
        outbox.expire()
      })

      expectObservable(outbox.filled$).toBe('--(a|)', { a: undefined })
      expectObservable(outbox.emptied$, '---^').toBe('---------|')
      flush()
      expect(ends).toEqual(new Map([[2, 'expired']]))
    })
  })
})
