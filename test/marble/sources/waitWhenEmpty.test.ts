import { EMPTY, map, type Observable, of, range, throwError } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, type ClaimSource, waitWhenEmpty } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const slots = ['w-slot-0', 'w-slot-1']
const values = { a: claimOf('w-slot-0', { taskId: 'a' }), b: claimOf('w-slot-1', { taskId: 'b' }) }

/** Gives the answers one after another; notes what it was asked for. */
const answering = (...answers: Observable<Claim>[]): { source: ClaimSource; demands: (readonly string[])[] } => {
  const demands: (readonly string[])[] = []
  return { source: (demand) => answers[demands.push(demand) - 1] ?? EMPTY, demands }
}

describe('waitWhenEmpty', () => {
  it.each([
    // source, wait, emits; when the source and the wait were subscribed to
    ['waits after an empty claim, and passes on what that brings', '--|', '---(ab|)', '-----(ab|)', '^-!', '--^--!'],
    ['completes if the wait brings nothing', '--|', '---|', '-----|', '^-!', '--^--!'],
    ['waits for ever', '--|', '-----', '-------', '^-!', '--^----'],
    ['does not wait after one claim', '--(a|)', '---|', '--(a|)', '^-!', []],
    ['does not wait after many', '--(ab|)', '---|', '--(ab|)', '^-!', []],
    ['does not wait before the source completes', '--a---', '---|', '--a---', '^-----', []],
    ['does not wait after a fault', '--#', '---|', '--#', '^-!', []],
    ['passes on a fault of the wait', '--|', '---#', '-----#', '^-!', '--^--!'],
    ['waits no time if the wait takes none', '--|', '|', '--|', '^-!', '--(^!)'],
  ])('%s', (_, marble, wait, expected, sourceSubscription, waitSubscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const [asked$, wait$] = [cold(marble, values), cold(wait, values)]
      const [asked, waited] = [answering(asked$), answering(wait$)]

      expectObservable(waitWhenEmpty(asked.source, waited.source)(slots)).toBe(expected, values)
      expectSubscriptions(asked$.subscriptions).toBe(sourceSubscription)
      expectSubscriptions(wait$.subscriptions).toBe(waitSubscription)
      flush()

      expect(asked.demands).toEqual([slots])
      expect(waited.demands).toEqual(waitSubscription.length === 0 ? [] : [slots])
    })
  })

  it('stops waiting when it is left', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const wait$ = cold<Claim>('-----|')
      const claims = waitWhenEmpty(
        () => cold('--|'),
        () => wait$,
      )

      expectObservable(claims(slots), '----!').toBe('-----')
      expectSubscriptions(wait$.subscriptions).toBe('--^-!')
    })
  })

  it.each([
    ['asks the source again after a wait in vain', false, EMPTY, 2],
    ['only waits again after a wait in vain while it is too early for the source', true, EMPTY, 1],
    ['asks the source after a wait that brought something, however early', true, of(values.a), 2],
    ['asks the source after a wait that failed, however early', true, throwError(() => new Error('away')), 2],
  ])('%s', (_, isEarly, firstWait$, asks) => {
    const asked = answering()
    const waited = answering(firstWait$)
    const claims = waitWhenEmpty(asked.source, waited.source, () => isEarly)

    for (const demand of [slots, slots.slice(1)]) claims(demand).subscribe({ error: () => undefined })

    expect(asked.demands).toHaveLength(asks)
    expect(waited.demands).toEqual([slots, slots.slice(1)])
  })

  it.each(['source', 'wait', 'isEarly'])('errors if %s throws', (name) => {
    marbles(({ expectObservable }) => {
      const nothing: ClaimSource = () => EMPTY
      const fail = (): never => {
        throw new Error('thrown')
      }
      const claims = waitWhenEmpty(
        name === 'source' ? fail : nothing,
        name === 'wait' ? fail : nothing,
        name === 'isEarly' ? fail : undefined,
      )
      if (name === 'isEarly') claims(slots).subscribe()

      expectObservable(claims(slots)).toBe('#', {}, new Error('thrown'))
    })
  })

  it('asks nothing before it is subscribed to', () => {
    const asked = answering()
    const claim$ = waitWhenEmpty(asked.source, asked.source)(slots)

    expect(asked.demands).toEqual([])
    claim$.subscribe()
    expect(asked.demands).toEqual([slots, slots])
  })

  it('passes on 100,000 claims at once', () => {
    let passed = 0
    const source = (): Observable<Claim> => range(100_000).pipe(map(() => values.a))

    waitWhenEmpty(source, () => EMPTY)(slots).subscribe(() => passed++)

    expect(passed).toBe(100_000)
  })
})
