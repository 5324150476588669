import {
  asyncScheduler,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  interval,
  map,
  type Observable,
  range,
  repeat,
  throwError,
} from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, type LaneEvent, restOnError } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const slots = ['w-slot-0', 'w-slot-1']
const values = { a: claimOf('w-slot-0', { taskId: 'a' }), b: claimOf('w-slot-1', { taskId: 'b' }) }
const restsOf = (events: LaneEvent[]): number[] =>
  events.map((event) => (event.kind === 'brokerError' ? event.restMs : -1))

const setup = (): { events: LaneEvent[]; options: Parameters<typeof restOnError>[1] } => {
  const events: LaneEvent[] = []
  // Half of the rest is random; with this it is the whole of it.
  return { events, options: { restMs: 10, random: () => 0.999_999, report: (event) => events.push(event) } }
}

describe('restOnError', () => {
  it.each([
    ['never', '-----', '-----', '^----'],
    ['an empty claim', '--|', '--|', '^-!'],
    ['one claim', '--(a|)', '--(a|)', '^-!'],
    ['many claims', '--a-(b|)', '--a-(b|)', '^---!'],
  ])('passes on %s', (_, source, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const { events, options } = setup()
      const demands: (readonly string[])[] = []
      const asked$ = cold(source, values)
      const resting = restOnError((demand) => (demands.push(demand), asked$), options)

      expectObservable(resting(slots)).toBe(expected, values)
      expectSubscriptions(asked$.subscriptions).toBe(subscription)
      flush()

      expect(demands).toEqual([slots])
      expect(events).toEqual([])
    })
  })

  it('reports a fault, rests, and completes as if it had found nothing more', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const { events, options } = setup()
      const asked$ = cold('--a--#', values, 'away')

      expectObservable(restOnError(() => asked$, options)(slots)).toBe('--a-- 10ms |', values)
      expectSubscriptions(asked$.subscriptions).toBe('^----!')
      flush()

      expect(events).toEqual([{ kind: 'brokerError', activity: 'claim', error: 'away', restMs: 10 }])
    })
  })

  it('rests twice as long with each failure in a row, and begins anew after a success', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { events, options } = setup()
      const answers = ['#', '#', '#', '|', '#'].map((marble) => cold<Claim>(marble))
      const resting = restOnError(() => answers.shift() ?? cold('-'), options)
      const claim$ = defer(() => resting(slots))

      expectObservable(concat(claim$, claim$, claim$, claim$, claim$)).toBe(`${10 + 20 + 40 + 10}ms |`)
      flush()

      expect(restsOf(events)).toEqual([10, 20, 40, 10])
    })
  })

  it('does not take a claim without completion for a success', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { events, options } = setup()
      const claim$ = restOnError(() => cold('(a#)', values), options)(slots)

      expectObservable(concat(claim$, claim$)).toBe('a 9ms a 19ms |', values)
      flush()

      expect(restsOf(events)).toEqual([10, 20])
    })
  })

  it('takes a random half off the rest', () => {
    marbles(({ cold, expectObservable }) => {
      const { options } = setup()

      const source = restOnError(() => cold('#'), { ...options, random: () => 0 })
      expectObservable(source(slots)).toBe('5ms |')
    })
  })

  it('cuts a rest short at the stop', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { options } = setup()
      const stop$ = hot('-----x')

      const source = restOnError(() => cold('--#'), { ...options, stop$ })
      expectObservable(source(slots)).toBe('-----|')
      expectSubscriptions(stop$.subscriptions).toBe('--^--!')
    })
  })

  it.each([
    // wake, when the rest of 100 ms that begins at 2 is over
    ['soon after it is woken', '----x', '54ms |'],
    ['not later for that', '- 79ms x', '102ms |'],
    ['not sooner for what came before it', '-x', '102ms |'],
    ['soon after it is first woken, however often it is', '----x-x-x-x', '54ms |'],
    ['after its time if nobody will wake it', '----|', '102ms |'],
  ])('ends a rest %s', (_, wake, expected) => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions, flush }) => {
      const { events, options } = setup()
      const wake$ = hot(wake)

      const source = restOnError(() => cold('--#'), { ...options, restMs: 100, wake$ })
      expectObservable(source(slots)).toBe(expected)
      expectSubscriptions(wake$.subscriptions).toBe(
        wake === '- 79ms x' ? '--^ 77ms !' : wake === '-x' ? '--^ 99ms !' : '--^-!',
      )
      flush()

      expect(restsOf(events)).toEqual([100])
    })
  })

  it('is woken less and less often in vain, and as at first after a success', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { options } = setup()
      const scheduler = options.scheduler ?? asyncScheduler
      const failedAt: number[] = []
      let hasSuccess = false
      const source = restOnError(
        () =>
          defer(() => {
            failedAt.push(scheduler.now())
            return hasSuccess ? EMPTY : cold<Claim>('#')
          }),
        { ...options, restMs: 250, wake$: interval(1) },
      )
      const claim$ = defer(() => source(slots))
      const pauses = (): number[] => failedAt.slice(1).map((at, index) => at - (failedAt[index] as number))

      const rests$ = claim$.pipe(repeat(9))
      const success$ = defer(() => {
        hasSuccess = true
        return claim$
      })
      const again$ = defer(() => {
        hasSuccess = false
        return claim$.pipe(repeat(2))
      })
      expectObservable(concat(rests$, success$, again$).pipe(ignoreElements())).toBe('16509ms |')
      flush()

      // Of a rest there is no more than its own time; half of all these is random.
      expect(pauses()).toEqual([51, 101, 201, 401, 801, 1_601, 3_201, 5_000, 5_000, 0, 51])
    })
  })

  it('does not cut the source short at the stop', () => {
    marbles(({ cold, hot, expectObservable }) => {
      const { options } = setup()
      const stop$ = hot('-x')

      const source = restOnError(() => cold('---(a|)', values), { ...options, stop$ })
      expectObservable(source(slots)).toBe('---(a|)', values)
    })
  })

  it('leaves source and rest when it is left', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { options } = setup()
      const asked$ = cold<Claim>('---#')
      const stop$ = hot('-')
      const source = restOnError(() => asked$, { ...options, stop$ })
      const claim$ = source(slots)

      expectObservable(claim$, '-!').toBe('-')
      expectObservable(claim$, '-----!').toBe('-')
      expectSubscriptions(asked$.subscriptions).toBe(['^!', '^--!'])
      expectSubscriptions(stop$.subscriptions).toBe('---^-!')
    })
  })

  it('treats a source that throws as one that errors', () => {
    marbles(({ expectObservable, flush }) => {
      const { events, options } = setup()
      const error = new Error('thrown')

      const resting = restOnError(() => {
        throw error
      }, options)
      expectObservable(concat(resting(slots), resting(slots))).toBe('30ms |')
      flush()

      expect(events).toEqual([
        { kind: 'brokerError', activity: 'claim', error, restMs: 10 },
        { kind: 'brokerError', activity: 'claim', error, restMs: 20 },
      ])
    })
  })

  it('errors if the report throws', () => {
    marbles(({ cold, expectObservable }) => {
      const report = (): never => {
        throw new Error('thrown')
      }

      expectObservable(restOnError(() => cold('#'), { restMs: 10, report })(slots)).toBe('#', {}, new Error('thrown'))
    })
  })

  it('asks nothing before it is subscribed to', () => {
    let asked = 0
    const source = (): Observable<Claim> => {
      asked++
      return throwError(() => new Error('away'))
    }
    const claim$ = restOnError(source, setup().options)(slots)

    expect(asked).toBe(0)
    claim$.subscribe().unsubscribe()
    expect(asked).toBe(1)
  })

  it('passes on 100,000 claims at once', () => {
    let passed = 0
    const source = (): Observable<Claim> => range(100_000).pipe(map(() => values.a))

    restOnError(source, setup().options)(slots).subscribe(() => passed++)

    expect(passed).toBe(100_000)
  })
})
