import { defer, EMPTY, NEVER, type Observable, of } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, type ClaimSource, fillSlots, type LaneEvent } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'
import { watched } from './workers.js'

const slots = ['w-slot-0', 'w-slot-1']
const a = claimOf('w-slot-0', { taskId: 'a' })
const b = claimOf('w-slot-1', { taskId: 'b' })
const c = claimOf('w-slot-0', { taskId: 'c' })
const u = claimOf('elsewhere', { taskId: 'u' })
const values = { a, b, c, u }

const answering = (...answers: Observable<Claim>[]): { source: ClaimSource; asked: () => number } => {
  let asked = 0
  return { source: () => defer(() => answers[asked++] ?? NEVER), asked: () => asked }
}

const observed = (): { events: LaneEvent[]; options: { slots: string[]; report: (event: LaneEvent) => void } } => {
  const events: LaneEvent[] = []
  return { events, options: { slots, report: (event) => events.push(event) } }
}

describe('fillSlots, given more than it asked for', () => {
  it('reports it, and lets it wait for a slot while nothing further is asked for', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { events, options } = observed()
      const { source, asked } = answering(cold('(abc|)', values))
      const works = new Map([
        ['a', cold('----(x|)')],
        ['b', cold('-------(y|)')],
        ['c', cold('------(z|)')],
      ])
      const work = ({ taskId }: Claim): Observable<string> => works.get(taskId) ?? EMPTY

      expectObservable(fillSlots(source, work, options), '20ms !').toBe('----x--y--z')
      const askedBy = watched(5, asked)
      flush()

      expect(askedBy).toEqual([1, 1, 1, 1, 1])

      expect(events).toEqual([{ kind: 'overDelivered', claim: c }])
      expect(asked()).toBe(2)
    })
  })

  it('lets a second claim for a busy slot run in one that is free', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const { events, options } = observed()
      const task$ = cold('---(x|)')
      const { source } = answering(cold('(ac|)', values))

      expectObservable(
        fillSlots(source, () => task$, options),
        '10ms !',
      ).toBe('---(xx)')
      expectSubscriptions(task$.subscriptions).toBe(['^--!', '^--!'])
      flush()

      expect(events).toEqual([{ kind: 'overDelivered', claim: c }])
    })
  })

  it('works on a claim for a slot that it does not have, too', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { events, options } = observed()
      const { source, asked } = answering(cold('(u|)', values), cold('--(u|)', values))

      expectObservable(
        fillSlots(source, () => cold('-(x|)'), options),
        '10ms !',
      ).toBe('-x-x')
      flush()

      expect(events).toEqual([
        { kind: 'overDelivered', claim: u },
        { kind: 'overDelivered', claim: u },
      ])
      expect(asked()).toBe(3)
    })
  })

  it('works on the excess before it ends', () => {
    marbles(({ cold, hot, expectObservable }) => {
      const { options } = observed()
      const { source } = answering(cold('(abcu|)', values))
      const stop$ = hot('-s')

      expectObservable(fillSlots(source, () => cold('-----x----|'), { ...options, stop$ })).toBe('-----(xx)-(xx)-|')
    })
  })

  it('starts none of the excess when it is left', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { options } = observed()
      const task$ = cold('-----x|')
      const { source } = answering(cold('(abc|)', values))

      expectObservable(
        fillSlots(source, () => task$, options),
        '---!',
      ).toBe('-')
      expectSubscriptions(task$.subscriptions).toBe(['^--!', '^--!'])
    })
  })

  it('works on 100,000 that come at once, one after another', () => {
    const many = 100_000
    let most = 0
    let open = 0
    let worked = 0
    const work = (): Observable<never> =>
      defer(() => {
        most = Math.max(most, ++open)
        worked++
        open--
        return EMPTY
      })
    const source: ClaimSource = () => (worked === 0 ? of(...Array.from({ length: many }, () => a)) : NEVER)

    marbles(({ expectObservable }) => {
      expectObservable(fillSlots(source, work, { slots }), '5ms !').toBe('-')
    })

    expect([most, worked]).toEqual([1, many])
  })

  it('works on 20,000 that had to wait for a slot', () => {
    const many = 20_000
    let worked = 0

    marbles(({ cold, expectObservable }) => {
      const first$ = cold('---(x|)')
      const source: ClaimSource = () => (worked === 0 ? of(...Array.from({ length: many }, () => a)) : NEVER)
      const work = (): Observable<unknown> => (worked++ === 0 ? first$ : EMPTY)

      expectObservable(fillSlots(source, work, { slots: ['w-slot-0'] }), '9ms !').toBe('---x')
    })

    expect(worked).toBe(many)
  })
})
