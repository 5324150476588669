import { concat, defer, EMPTY, type Observable, of } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, sweepThenRead } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const slots = ['w-slot-0', 'w-slot-1', 'w-slot-2']
const [a, b, c] = slots.map((slot, index) => claimOf(slot, { taskId: 'abc'[index] ?? '' })) as [Claim, Claim, Claim]
const values = { a, b, c }

describe('sweepThenRead', () => {
  it.each([
    // sweep, read, emits, subscription of sweep, of read, demand of the read
    ['passes the whole demand on after an empty sweep', '--|', '--(abc|)', '----(abc|)', '^-!', '--^-!', [0, 1, 2]],
    ['passes on the slots that the sweep left', '--a|', '--(bc|)', '--a--(bc|)', '^--!', '---^-!', [1, 2]],
    ['reads nothing once all slots are taken', '--(abc|)', '-', '--(abc|)', '^-!', [], undefined],
    ['waits for the sweep', '-----', '-', '-----', '^----', [], undefined],
    ['does not read after a failed sweep', '--a-#', '-', '--a-#', '^---!', [], undefined],
    ['passes on what the read fails with', '--a|', '--#', '--a--#', '^--!', '---^-!', [1, 2]],
    ['completes when both are empty', '--|', '---|', '-----|', '^-!', '--^--!', [0, 1, 2]],
    ['goes on with a read that never answers', 'a|', '-----', 'a-----', '^!', '-^----', [1, 2]],
  ])('%s', (_, sweep, read, expected, sweepSubscription, readSubscription, left) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const demands: [string, readonly string[]][] = []
      const stale$ = cold(sweep, values)
      const new$ = cold(read, values)
      const source = sweepThenRead(
        (demand) => defer(() => (demands.push(['sweep', demand]), stale$)),
        (demand) => defer(() => (demands.push(['read', demand]), new$)),
      )

      expectObservable(source(slots)).toBe(expected, values)
      expectSubscriptions(stale$.subscriptions).toBe(sweepSubscription)
      expectSubscriptions(new$.subscriptions).toBe(readSubscription)
      flush()

      expect(demands).toEqual([['sweep', slots], ...(left ? [['read', left.map((index) => slots[index])]] : [])])
    })
  })

  it.each([
    ['sweep', '-!', '^!', []],
    ['read', '---!', '^-!', '--^!'],
  ])('leaves the %s when it is left', (_, unsubscription, sweepSubscription, readSubscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const stale$ = cold<Claim>('--|')
      const new$ = cold('--a|', values)

      expectObservable(
        sweepThenRead(
          () => stale$,
          () => new$,
        )(slots),
        unsubscription,
      ).toBe('-')
      expectSubscriptions(stale$.subscriptions).toBe(sweepSubscription)
      expectSubscriptions(new$.subscriptions).toBe(readSubscription)
    })
  })

  it('counts what each subscription took for itself', () => {
    const demands: (readonly string[])[] = []
    const source = (demand: readonly string[]): Observable<Claim> => {
      demands.push(demand)
      return EMPTY
    }
    let sweeps = 0
    const claim$ = sweepThenRead(() => (sweeps++ === 0 ? of(a) : EMPTY), source)(slots)

    concat(claim$, claim$).subscribe()

    expect(demands).toEqual([slots.slice(1), slots])
  })

  it('errors if a source throws', () => {
    marbles(({ expectObservable }) => {
      const fail = (): never => {
        throw new Error('thrown')
      }
      const source = (): Observable<Claim> => EMPTY

      expectObservable(sweepThenRead(fail, source)(slots)).toBe('#', {}, new Error('thrown'))
      expectObservable(sweepThenRead(source, fail)(slots)).toBe('#', {}, new Error('thrown'))
    })
  })

  it('asks for nothing before it is subscribed to', () => {
    let asked = 0
    const source = sweepThenRead(
      () => defer(() => (asked++, EMPTY)),
      () => defer(() => (asked++, EMPTY)),
    )

    const claim$ = source(slots)
    expect(asked).toBe(0)
    claim$.subscribe()
    expect(asked).toBe(2)
  })
})
