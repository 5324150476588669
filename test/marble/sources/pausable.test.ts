import { BehaviorSubject, NEVER, type Observable, of } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, pausable } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const slots = ['w-slot-0', 'w-slot-1']
const values = { a: claimOf('w-slot-0', { taskId: 'a' }), b: claimOf('w-slot-1', { taskId: 'b' }) }
const switches = { t: true, f: false }

describe('pausable', () => {
  it.each([
    // is paused, source, emits, subscriptions of the switch and the source
    ['asks the source while it is not paused', 'f', '--(ab|)', '--(ab|)', '(^!)', '^-!'],
    ['delivers what is on its way when a pause begins', 'f-t', '---(ab|)', '---(ab|)', '(^!)', '^--!'],
    ['asks nothing while it is paused', 't----', '-', '-', '^', []],
    ['asks when the pause ends', 't---f', '--(a|)', '------(a|)', '^---!', '----^-!'],
    ['does not take a second pause for its end', 't-t-f', '-(a|)', '-----(a|)', '^---!', '----^!'],
    ['does not look for a further pause once it has asked', 't-f-t', '----|', '------|', '^-!', '--^---!'],
    ['passes on one claim', 'f', '-(a|)', '-(a|)', '(^!)', '^!'],
    ['passes on an empty claim', 'f', '--|', '--|', '(^!)', '^-!'],
    ['passes on a fault of the source', 'f', '--#', '--#', '(^!)', '^-!'],
    ['waits for a source that never answers', 'f', '-----', '-----', '(^!)', '^----'],
    ['claims nothing if the switch ends during the pause', 't--|', '-', '---|', '^--!', []],
    ['passes on a fault of the switch', '#', '-', '#', '(^!)', []],
    ['passes on a fault of the switch during the pause', 't--#', '-', '---#', '^--!', []],
  ])('%s', (_, isPaused, claims, expected, switchSubscription, sourceSubscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const demands: (readonly string[])[] = []
      const asked$ = cold(claims, values)
      const isPaused$ = cold(isPaused, switches)
      const source = (demand: readonly string[]): Observable<Claim> => {
        demands.push(demand)
        return asked$
      }

      expectObservable(pausable(source, isPaused$)(slots)).toBe(expected, values)
      expectSubscriptions(isPaused$.subscriptions).toBe(switchSubscription)
      expectSubscriptions(asked$.subscriptions).toBe(sourceSubscription)
      flush()

      expect(demands).toEqual(sourceSubscription.length === 0 ? [] : [slots])
    })
  })

  it('leaves source and switch when it is left', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const asked$ = cold<Claim>('-----|')
      const running$ = cold('f', switches)
      const paused$ = cold('t---f', switches)

      expectObservable(pausable(() => asked$, running$)(slots), '--!').toBe('-')
      expectObservable(pausable(() => asked$, paused$)(slots), '--!').toBe('-')
      expectSubscriptions(asked$.subscriptions).toBe('^-!')
      expectSubscriptions(running$.subscriptions).toBe('(^!)')
      expectSubscriptions(paused$.subscriptions).toBe('^-!')
    })
  })

  it('looks at the switch with each subscription', () => {
    const isPaused$ = new BehaviorSubject(true)
    const claims: string[] = []
    const claim$ = pausable(() => of(values.a), isPaused$)(slots)

    claim$.subscribe(() => claims.push('first'))
    expect(claims).toEqual([])
    isPaused$.next(false)
    expect(claims).toEqual(['first'])
    claim$.subscribe(() => claims.push('second'))

    expect(claims).toEqual(['first', 'second'])
    expect(isPaused$.observed).toBe(false)
  })

  it('errors if the source throws', () => {
    marbles(({ cold, expectObservable }) => {
      const fail = (): never => {
        throw new Error('thrown')
      }
      expectObservable(pausable(fail, cold('f', switches))(slots)).toBe('#', {}, new Error('thrown'))
    })
  })

  it('claims nothing as long as it is not known whether it is paused', () => {
    marbles(({ expectObservable }) => {
      expectObservable(pausable(() => of(values.a), NEVER)(slots)).toBe('-')
    })
  })
})
