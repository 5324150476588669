import { BehaviorSubject, concat, EMPTY, Observable, of } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { lane, type LaneEvent, type LaneReading, readNew, type ReadReply } from '../../../src/index.js'
import { claimOf, marbleLanePort, readReply, virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const reading = (name: string): LaneReading => ({ lane: lane(name, 1), visibilityTimeoutMs: 60_000 })
const [mail, scan, zip] = [reading('mail'), reading('scan'), reading('zip')]
const slots = ['w-slot-0', 'w-slot-1']
const a = claimOf('w-slot-0', { taskId: 'a' })
const b = claimOf('w-slot-1', { taskId: 'b' })
const values = { a, b }
const replies = { n: readReply(), o: readReply([a]), m: readReply([a, b]) }

describe('readNew', () => {
  it.each([
    ['never', '-----', '-----', '^----'],
    ['an empty reply', '--(n|)', '--|', '^-!'],
    ['one entry', '--(o|)', '--(a|)', '^-!'],
    ['many entries', '--(m|)', '--(ab|)', '^-!'],
    ['a refusal', '--#', '--#', '^-!'],
  ])('passes on %s', (_, reply, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const reply$ = cold(reply, replies)
      const port = marbleLanePort({ read: () => reply$ })
      const source = readNew(port, { workerId: 'w', lanes: () => [mail] })

      expectObservable(source(slots)).toBe(expected, values)
      expectSubscriptions(reply$.subscriptions).toBe(subscription)
      flush()

      expect(port.calls.read).toEqual([[{ workerId: 'w', slots, lanes: [mail] }]])
    })
  })

  it('asks nothing before it is subscribed to, and once with each subscription', () => {
    const port = marbleLanePort({ read: () => of(readReply()) })
    const asked: string[] = []
    const source = readNew(port, {
      workerId: 'w',
      lanes: () => {
        asked.push('lanes')
        return []
      },
    })

    const claim$ = source(slots)
    expect([port.demands(), asked]).toEqual([[], []])

    concat(claim$, claim$, source(['w-slot-1'])).subscribe()
    expect(port.demands()).toEqual([slots, slots, ['w-slot-1']])
    expect(asked).toHaveLength(3)
  })

  it('begins one lane further on with each read', () => {
    const lanes$ = new BehaviorSubject([mail, scan, zip])
    const port = marbleLanePort({ read: () => of(readReply()) })
    const source = readNew(port, { workerId: 'w', lanes: () => lanes$.value })

    concat(source(slots), source(slots), source(slots), source(slots)).subscribe()
    lanes$.next([mail])
    source(slots).subscribe()
    lanes$.next([])
    source(slots).subscribe()

    expect(port.calls.read.map(([{ lanes }]) => lanes)).toEqual([
      [mail, scan, zip],
      [scan, zip, mail],
      [zip, mail, scan],
      [mail, scan, zip],
      [mail],
      [],
    ])
  })

  it('begins behind the lanes that have given something, even with two reads on their way', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => reading(`many-${String(n)}`))
    const given = new Map<string, number>()
    const demand = Array.from({ length: 25 }, (_, n) => `w-slot-${String(n)}`)
    const replies: Array<() => void> = []
    const sizes: number[] = []
    const port = marbleLanePort({
      // Each lane has something to give.
      read: ({ slots: asked, lanes }) =>
        new Observable((out) => {
          sizes.push(lanes.length)
          replies.push(() => {
            out.next(readReply(asked.map((slot, n) => ({ ...a, slot, lane: lanes[n]?.lane ?? mail.lane }))))
            out.complete()
          })
        }),
    })
    const source = readNew(port, { workerId: 'w', lanes: () => many })
    const read = (): void =>
      void source(demand).subscribe(({ lane: { name } }) => given.set(name, (given.get(name) ?? 0) + 1))

    read()
    for (let n = 0; n < 200; n++) {
      read()
      replies.shift()?.()
    }

    // 200 reads of 25 are five rounds; of two on their way, one repeats most of the other's lanes.
    expect(given.size).toBe(1_000)
    expect(Math.max(...given.values()) / Math.min(...given.values())).toBeLessThanOrEqual(3)
    // A thousand lanes are not named for long where the first give all.
    expect(sizes.slice(0, 64)).toEqual(Array.from({ length: 64 }, () => 1_000))
    expect(new Set(sizes.slice(70))).toEqual(new Set([25]))
  })

  it('passes over no lane where some of many give several at once', () => {
    const port = virtualLanePort()
    const many = Array.from({ length: 50 }, (_, n) => reading(`many-${String(n)}`))
    const demand = Array.from({ length: 25 }, (_, n) => `w-slot-${String(n)}`)
    for (const { lane: of } of many)
      for (let n = 0; n < 20; n++) port.enqueue({ taskId: `${of.name} ${String(n)}`, lane: of }).subscribe()
    const source = readNew(port, { workerId: 'w', lanes: () => many })
    const given = new Map<string, number>()

    for (let n = 0; n < 24; n++)
      source(demand).subscribe(({ lane: { name } }) => given.set(name, (given.get(name) ?? 0) + 1))

    // 600 entries of 50 lanes.
    expect(given.size).toBe(50)
    expect(Math.min(...given.values())).toBeGreaterThanOrEqual(6)
    expect(Math.max(...given.values())).toBeLessThanOrEqual(18)
  })

  it('asks the first few of many lanes as long as these give enough, and the rest at once when they do not', () => {
    const many = Array.from({ length: 20 }, (_, n) => reading(`many-${String(n)}`))
    let isShort = false
    const port = marbleLanePort({
      read: ({ lanes: [first] }) => of(readReply(isShort ? [] : [{ ...a, lane: first?.lane ?? mail.lane }])),
    })
    const source = readNew(port, { workerId: 'w', lanes: () => many })
    let seen = 0
    const since = () => port.calls.read.slice(seen)
    const asked = (): number[] => {
      const news = since().map(([{ lanes }]) => lanes.length)
      seen += news.length
      return news
    }
    const read = (): void => void source(['w-slot-0']).subscribe()

    for (let n = 0; n < 22; n++) read()
    expect(asked()).toEqual([...Array.from({ length: 20 }, () => 20), 2, 2])

    isShort = true
    read()
    expect(since().flatMap(([{ lanes }]) => lanes.map(({ lane: { name } }) => name))).toEqual(
      [...many.slice(2), ...many.slice(0, 2)].map(({ lane: { name } }) => name),
    )
    expect(asked()).toEqual([2, 18])
    read()
    expect(asked()).toEqual([20])
  })

  it('asks for what is left only, in the lanes that are left', () => {
    const many = Array.from({ length: 20 }, (_, n) => reading(`many-${String(n)}`))
    const port = marbleLanePort({
      read: ({ slots: [slot = ''], lanes: [first] }) => of(readReply([{ ...a, slot, lane: first?.lane ?? mail.lane }])),
    })
    const source = readNew(port, { workerId: 'w', lanes: () => many })
    for (let n = 0; n < 20; n++) source(['w-slot-0']).subscribe()

    source(slots).subscribe()

    expect(port.calls.read.slice(20).map(([{ slots: of, lanes }]) => [of.length, lanes.length])).toEqual([
      [2, 2],
      [1, 18],
    ])
  })

  it('tells the reply, and that lanes were full', () => {
    const replies: ReadReply[] = []
    const events: LaneEvent[] = []
    const answers = [readReply([a]), readReply([], { full: [mail.lane] })]
    const port = marbleLanePort({ read: () => of(answers[port.calls.read.length - 1] ?? readReply()) })
    const source = readNew(port, {
      workerId: 'w',
      lanes: () => [mail],
      onReply: (reply) => replies.push(reply),
      report: (event) => events.push(event),
    })

    concat(source(slots), source(slots)).subscribe()

    expect(replies).toEqual(answers)
    expect(events).toEqual([{ kind: 'capFull', lanes: [mail.lane] }])
  })

  it('reads the reply even if it is left early, and hands the claims back', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const reply$ = cold('---(m|)', replies)
      const port = marbleLanePort({ read: () => reply$, handBack: () => EMPTY })

      expectObservable(readNew(port, { workerId: 'w', lanes: () => [mail] })(slots), '-!').toBe('-')
      expectSubscriptions(reply$.subscriptions).toBe('^--!')
      flush()

      expect(port.calls.handBack).toEqual([[[a, b]]])
    })
  })

  it('reports claims that could not be handed back', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const events: LaneEvent[] = []
      const port = marbleLanePort({
        read: () => cold('---(m|)', replies),
        handBack: () => cold('#', undefined, 'away'),
      })
      const source = readNew(port, { workerId: 'w', lanes: () => [mail], report: (event) => events.push(event) })

      expectObservable(source(slots), '-!').toBe('-')
      flush()

      expect(events).toEqual([{ kind: 'brokerError', activity: 'handBack', error: 'away', restMs: 0 }])
    })
  })

  it.each([
    ['lanes', { lanes: () => fail() }],
    ['onReply', { lanes: () => [mail], onReply: () => fail() }],
  ])('errors if %s throws', (_, options) => {
    marbles(({ cold, expectObservable }) => {
      const port = marbleLanePort({ read: () => cold('(o|)', replies), handBack: () => EMPTY })

      expectObservable(readNew(port, { workerId: 'w', ...options })(slots)).toBe('#', undefined, new Error('thrown'))
    })
  })

  it('errors if the port throws', () => {
    marbles(({ expectObservable }) => {
      const port = marbleLanePort({ read: () => fail() })

      const claim$ = readNew(port, { workerId: 'w', lanes: () => [mail] })(slots)
      expectObservable(claim$).toBe('#', undefined, new Error('thrown'))
    })
  })
})

const fail = (): never => {
  throw new Error('thrown')
}
