import { EMPTY, map, type Observable, range } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, type ClaimSource, waitWhenEmpty } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const slots = ['w-slot-0', 'w-slot-1']
const values = { a: claimOf('w-slot-0', { taskId: 'a' }), b: claimOf('w-slot-1', { taskId: 'b' }) }

describe('waitWhenEmpty', () => {
  it.each([
    // first asking, wait, second asking, emits; when the first, the wait and the second were subscribed to
    [
      'asks again after an empty claim and a wait',
      '--|',
      '---(x|)',
      '-(ab|)',
      '------(ab|)',
      '^-!',
      '--^--!',
      '-----^!',
    ],
    ['completes if there is nothing the second time', '--|', '---|', '-|', '------|', '^-!', '--^--!', '-----^!'],
    ['waits for ever', '--|', '-----', '', '-------', '^-!', '--^----', []],
    ['does not wait after one claim', '--(a|)', '---|', '', '--(a|)', '^-!', [], []],
    ['does not wait after many', '--(ab|)', '---|', '', '--(ab|)', '^-!', [], []],
    ['does not wait before the source completes', '--a---', '---|', '', '--a---', '^-----', [], []],
    ['does not wait after a fault', '--#', '---|', '', '--#', '^-!', [], []],
    ['passes on a fault of the wait', '--|', '---#', '', '-----#', '^-!', '--^--!', []],
    ['passes on a fault of the second asking', '--|', '---|', '-#', '------#', '^-!', '--^--!', '-----^!'],
    ['waits no time if the wait takes none', '--|', '|', '-(a|)', '---(a|)', '^-!', '--(^!)', '--^!'],
  ])('%s', (_, first, wait, second, expected, firstSubscription, waitSubscription, secondSubscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const demands: (readonly string[])[] = []
      const [first$, second$] = [cold(first, values), cold(second, values)]
      const wait$ = cold(wait)
      const source: ClaimSource = (demand) => {
        demands.push(demand)
        return demands.length === 1 ? first$ : second$
      }

      expectObservable(waitWhenEmpty(source, wait$)(slots)).toBe(expected, values)
      expectSubscriptions(first$.subscriptions).toBe(firstSubscription)
      expectSubscriptions(wait$.subscriptions).toBe(waitSubscription)
      expectSubscriptions(second$.subscriptions).toBe(secondSubscription)
      flush()

      expect(demands).toEqual(second === '' ? [slots] : [slots, slots])
    })
  })

  it('stops waiting when it is left', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const asked$ = cold<Claim>('--|')
      const wait$ = cold('-----|')

      expectObservable(waitWhenEmpty(() => asked$, wait$)(slots), '----!').toBe('-----')
      expectSubscriptions(wait$.subscriptions).toBe('--^-!')
      expectSubscriptions(asked$.subscriptions).toBe('^-!')
    })
  })

  it('looks at each subscription by itself', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answers = [cold('-(a|)', values), cold<Claim>('-|')]
      const wait$ = cold('--|')
      const claim$ = waitWhenEmpty(() => answers.shift() ?? EMPTY, wait$)(slots)

      expectObservable(claim$).toBe('-(a|)', values)
      expectObservable(claim$, '-----^').toBe('--------|')
      expectSubscriptions(wait$.subscriptions).toBe('------^-!')
    })
  })

  it('errors if the source throws', () => {
    marbles(({ expectObservable }) => {
      const fail = (): never => {
        throw new Error('thrown')
      }
      expectObservable(waitWhenEmpty(fail, EMPTY)(slots)).toBe('#', {}, new Error('thrown'))
    })
  })

  it('asks nothing before it is subscribed to', () => {
    let asked = 0
    const claim$ = waitWhenEmpty(() => (asked++, EMPTY), EMPTY)(slots)

    expect(asked).toBe(0)
    claim$.subscribe()
    expect(asked).toBe(2)
  })

  it('passes on 100,000 claims at once', () => {
    let passed = 0
    const source = (): Observable<Claim> => range(100_000).pipe(map(() => values.a))

    waitWhenEmpty(source, EMPTY)(slots).subscribe(() => passed++)

    expect(passed).toBe(100_000)
  })
})
