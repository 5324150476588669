import { EMPTY, mergeMap, NEVER, of, take } from 'rxjs'
import { describe, expect, it } from 'vitest'

import {
  type Bell,
  lane,
  type LaneEvent,
  type LaneReading,
  type ListenReply,
  readWhenCalled,
  type ReadWhenCalledOptions,
} from '../../../src/index.js'
import { claimOf, listenReply, marbleLanePort, virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const mail: LaneReading = { lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }
const slots = ['w-slot-0', 'w-slot-1']
const options: ReadWhenCalledOptions = { workerId: 'w', lanes: () => [mail], waitMs: () => 9 }
const values = { a: claimOf('w-slot-0', { taskId: 'a' }), b: claimOf('w-slot-1', { taskId: 'b' }) }
const replies: Record<string, ListenReply> = {
  r: listenReply([values.a, values.b], { bell: 'lanes' }),
  n: listenReply(),
  s: listenReply([], { bell: 'schedule' }),
}
const thrown = new Error('thrown')

describe('readWhenCalled', () => {
  it('delivers what the wait brings, and completes with it', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const listening$ = cold('--(r|)', replies)
      const port = marbleLanePort({ listen: () => listening$ })

      expectObservable(readWhenCalled(port, options)(slots)).toBe('--(ab|)', values)
      expectSubscriptions(listening$.subscriptions).toBe('^-!')
      flush()

      expect(port.calls.listen).toEqual([[{ workerId: 'w', slots, lanes: [mail], schedule: false, blockMs: 9 }]])
      expect(port.calls.wake).toEqual([])
    })
  })

  it('completes when the wait brings nothing', () => {
    marbles(({ cold, expectObservable }) => {
      const port = marbleLanePort({ listen: ({ blockMs }) => cold(`${blockMs}ms (n|)`, replies) })

      expectObservable(readWhenCalled(port, options)(slots)).toBe('9ms |')
    })
  })

  it.each([0, 0.2, -5])('waits at least for a millisecond, also if it is told %d', (waitMs) => {
    const port = marbleLanePort({ listen: () => EMPTY })

    readWhenCalled(port, { ...options, waitMs: () => waitMs })(slots).subscribe()

    expect(port.calls.listen.map(([{ blockMs }]) => blockMs)).toEqual([1])
  })

  it('asks for lanes, schedule and time afresh with each wait', () => {
    let waits = 0
    const port = marbleLanePort({ listen: () => EMPTY })
    const source = readWhenCalled(port, {
      ...options,
      lanes: () => (waits++ === 0 ? [] : [mail]),
      schedule: () => waits > 1,
      waitMs: () => 2 * waits + 0.5,
    })

    source(slots).subscribe()
    source(['w-slot-1']).subscribe()

    expect(port.calls.listen.map(([{ lanes, schedule }]) => [lanes, schedule])).toEqual([
      [[], false],
      [[mail], true],
    ])
    expect(port.calls.listen.map(([{ slots: asked }]) => asked)).toEqual([slots, ['w-slot-1']])
  })

  it('tells which bell rang, what is at its cap, and what was set aside', () => {
    const events: LaneEvent[] = []
    const bells: Bell[] = []
    const aside = { id: 'x', lane: 'mail:v1', reason: 'lost' } as const
    const answers = [
      listenReply([], { bell: 'schedule' }),
      listenReply([], { full: [mail.lane] }),
      listenReply([values.a], { bell: 'lanes', setAside: [aside] }),
    ]
    const given: ListenReply[] = []
    const port = marbleLanePort({ listen: () => of(answers[given.length] ?? listenReply()) })
    const source = readWhenCalled(port, {
      ...options,
      onBell: (bell) => bells.push(bell),
      onReply: (reply) => given.push(reply),
      report: (event) => events.push(event),
    })

    for (const { claims } of answers) {
      const brought: unknown[] = []
      source(slots).subscribe((claim) => brought.push(claim))
      expect(brought).toEqual(claims)
    }

    expect(bells).toEqual(['schedule', 'lanes'])
    expect(given).toEqual(answers)
    expect(events).toEqual([
      { kind: 'capFull', lanes: [mail.lane] },
      { kind: 'deadLettered', ...aside },
    ])
  })

  it('passes on a fault', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const listening$ = cold<ListenReply>('--#')

      expectObservable(readWhenCalled(marbleLanePort({ listen: () => listening$ }), options)(slots)).toBe('--#')
      expectSubscriptions(listening$.subscriptions).toBe('^-!')
    })
  })

  it.each(['lanes', 'waitMs', 'schedule', 'onBell', 'onReply'])('errors if %s throws', (name) => {
    marbles(({ cold, expectObservable }) => {
      const fail = (): never => {
        throw thrown
      }
      const port = marbleLanePort({ listen: () => cold('(s|)', replies) })

      expectObservable(readWhenCalled(port, { ...options, [name]: fail })(slots)).toBe('#', {}, thrown)
    })
  })

  it('stops listening when it is left', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const listening$ = cold('-----(r|)', replies)
      const port = marbleLanePort({ listen: () => listening$ })

      expectObservable(readWhenCalled(port, options)(slots), '---!').toBe('-')
      expectSubscriptions(listening$.subscriptions).toBe('^--!')
    })
  })

  it('hands back the claims that nobody wants who was left while it delivered', () => {
    const events: LaneEvent[] = []
    const port = marbleLanePort({ listen: () => of(listenReply([values.a, values.b])), handBack: () => EMPTY })
    const source = readWhenCalled(port, { ...options, report: (event) => events.push(event) })

    source(slots).pipe(take(1)).subscribe()

    expect(port.calls.handBack).toEqual([[[values.b]]])
    expect(events).toEqual([{ kind: 'handedBack', claims: [values.b] }])
  })

  it('hears what happens in the lanes', () => {
    marbles(({ cold, expectObservable }) => {
      const port = virtualLanePort()
      cold('5ms (x|)')
        .pipe(mergeMap(() => port.enqueue({ taskId: 'a', lane: mail.lane })))
        .subscribe()
      const claim$ = readWhenCalled(port, options)(slots).pipe(mergeMap(({ taskId }) => taskId))

      expectObservable(claim$).toBe('5ms (a|)')
    })
  })
})

describe('readWhenCalled, told to stop', () => {
  it.each([
    // the answer to waking, the reply of the wait, emits
    ['wakes the worker, and delivers what its wait brings', '-(v|)', '6ms (r|)', '6ms (ab|)'],
    ['ends when the wait brings nothing', '-(v|)', '6ms (n|)', '6ms |'],
    ['cuts the wait after 500 ms', '-(v|)', '-', '502ms |'],
    ['cuts the wait after 500 ms if nothing tells whether the worker was woken', '-', '-', '502ms |'],
    ['cuts the wait if the worker cannot be woken', '--#', '-', '----|'],
    ['passes on a fault of the wait', '-(v|)', '-----#', '-----#'],
  ])('%s', (_, answer, listening, expected) => {
    marbles(({ cold, hot, expectObservable, flush }) => {
      const events: LaneEvent[] = []
      const wake$ = cold<undefined>(answer, { v: undefined }, thrown)
      const port = marbleLanePort({ listen: () => cold(listening, replies), wake: () => wake$ })
      const source = readWhenCalled(port, {
        ...options,
        stop$: hot('--x--x'),
        report: (event) => events.push(event),
      })

      expectObservable(source(slots)).toBe(expected, values)
      flush()

      expect(port.calls.wake).toEqual([['w']])
      expect(events).toEqual(
        answer.includes('#') ? [{ kind: 'brokerError', activity: 'wake', error: thrown, restMs: 0 }] : [],
      )
    })
  })

  it('leaves the stop when the wait is over', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions, flush }) => {
      const stop$ = hot('------x')
      const port = marbleLanePort({ listen: () => cold('---(n|)', replies) })

      expectObservable(readWhenCalled(port, { ...options, stop$ })(slots)).toBe('---|')
      expectSubscriptions(stop$.subscriptions).toBe('^--!')
      flush()

      expect(port.calls.wake).toEqual([])
    })
  })

  it('ends at once over lanes that answer', () => {
    marbles(({ hot, expectObservable }) => {
      const source = readWhenCalled(virtualLanePort({ latencyMs: 3 }), {
        ...options,
        waitMs: () => 60_000,
        stop$: hot('--x'),
      })

      expectObservable(source(slots)).toBe('-----|')
    })
  })

  it('errors with the stop', () => {
    marbles(({ hot, expectObservable }) => {
      const source = readWhenCalled(marbleLanePort({ listen: () => NEVER }), { ...options, stop$: hot('--#') })

      expectObservable(source(slots)).toBe('--#')
    })
  })
})
