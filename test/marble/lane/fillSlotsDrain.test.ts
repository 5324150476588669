import { defer, NEVER, type Observable } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, type ClaimSource, fillSlots, type FillSlotsOptions } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const slots = ['w-slot-0', 'w-slot-1']
const values = { a: claimOf('w-slot-0', { taskId: 'a' }), b: claimOf('w-slot-1', { taskId: 'b' }) }

const answering = (...answers: Observable<Claim>[]): { source: ClaimSource; asked: () => number } => {
  let asked = 0
  return { source: () => defer(() => answers[asked++] ?? NEVER), asked: () => asked }
}

const stoppedBy = (stop$: Observable<unknown>): FillSlotsOptions => ({ slots, stop$ })

describe('fillSlots, told to stop', () => {
  it('asks nothing further when slots become free, and ends with the last work', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions, flush }) => {
      const taskA$ = cold('-----x--|')
      const taskB$ = cold('------y------|')
      const { source, asked } = answering(cold('(ab|)', values))
      const work = ({ taskId }: Claim): Observable<string> => (taskId === 'a' ? taskA$ : taskB$)

      expectObservable(fillSlots(source, work, stoppedBy(hot('--s')))).toBe('-----xy------|')
      expectSubscriptions(taskA$.subscriptions).toBe('^-------!')
      expectSubscriptions(taskB$.subscriptions).toBe('^------------!')
      flush()

      expect(asked()).toBe(1)
    })
  })

  it('delivers the claim that is on its way, and works on it', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions, flush }) => {
      const claim$ = cold('----(a|)', values)
      const { source, asked } = answering(claim$)

      expectObservable(fillSlots(source, () => cold('--x-|'), stoppedBy(hot('--s')))).toBe('------x-|')
      expectSubscriptions(claim$.subscriptions).toBe('^---!')
      flush()

      expect(asked()).toBe(1)
    })
  })

  it('waits for a claim that is on its way and turns out empty, and does not pause after it', () => {
    marbles(({ cold, hot, expectObservable, flush }) => {
      const { source, asked } = answering(cold('----|'))

      expectObservable(fillSlots(source, () => NEVER, stoppedBy(hot('--s')))).toBe('----|')
      flush()

      expect(asked()).toBe(1)
    })
  })

  it('ends within the least pause after an empty claim', () => {
    marbles(({ cold, hot, expectObservable, flush }) => {
      const { source, asked } = answering(cold('-|'))

      expectObservable(fillSlots(source, () => NEVER, stoppedBy(hot('----s')))).toBe('10ms |')
      flush()

      expect(asked()).toBe(1)
    })
  })

  it('ends at once when nothing is under way', () => {
    marbles(({ cold, hot, expectObservable, flush }) => {
      const { source, asked } = answering(cold('(a|)', values))
      const options = { ...stoppedBy(hot('--s')), slots: ['w-slot-0'] }

      expectObservable(fillSlots(source, () => cold('--|'), options)).toBe('--|')
      flush()

      expect(asked()).toBe(1)
    })
  })

  it('asks nothing if it had been told before it began', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { source, asked } = answering()

      expectObservable(fillSlots(source, () => NEVER, stoppedBy(cold('(s|)')))).toBe('|')
      flush()

      expect(asked()).toBe(0)
    })
  })

  it('takes further stops for the first', () => {
    marbles(({ cold, hot, expectObservable }) => {
      const { source } = answering(cold('(a|)', values), cold('-|'))

      expectObservable(fillSlots(source, () => cold('-----x|'), stoppedBy(hot('--sss')))).toBe('-----x---- |')
    })
  })

  it('goes on if the stop completes without having been given', () => {
    marbles(({ cold, hot, expectObservable, flush }) => {
      const { source, asked } = answering(cold('--(a|)', values))
      const options = { ...stoppedBy(hot('-|')), slots: ['w-slot-0'] }

      expectObservable(
        fillSlots(source, () => cold('-x|'), options),
        '9ms !',
      ).toBe('---x')
      flush()

      expect(asked()).toBe(2)
    })
  })

  it('errors with the stop', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const task$ = cold('-----x|')
      const { source } = answering(cold('(ab|)', values))

      expectObservable(fillSlots(source, () => task$, stoppedBy(hot('--#')))).toBe('--#')
      expectSubscriptions(task$.subscriptions).toBe(['^-!', '^-!'])
    })
  })

  it('leaves the stop when it is left', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const stop$ = hot('-')
      const { source } = answering()

      expectObservable(
        fillSlots(source, () => NEVER, stoppedBy(stop$)),
        '---!',
      ).toBe('-')
      expectSubscriptions(stop$.subscriptions).toBe('^--!')
    })
  })
})
