import { asyncScheduler, defer, EMPTY, NEVER, type Observable, of, take } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, type ClaimSource, fillSlots, readNew } from '../../../src/index.js'
import { claimOf, marbleLanePort, readReply } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const slots = ['w-slot-0', 'w-slot-1']
const a = claimOf('w-slot-0', { taskId: 'a' })
const b = claimOf('w-slot-1', { taskId: 'b' })
const values = { a, b }

/** Gives the answers one after another, then none any more; notes what it was asked for. */
const answering = (...answers: Observable<Claim>[]): { source: ClaimSource; demands: string[] } => {
  const demands: string[] = []
  const source: ClaimSource = (demand) =>
    defer(() => {
      demands.push(demand.map((slot) => slot.replace('w-slot-', '')).join(''))
      return answers[demands.length - 1] ?? NEVER
    })
  return { source, demands }
}

const fail = (): never => {
  throw new Error('thrown')
}

describe('fillSlots', () => {
  it('asks for all slots at first, and works on what comes', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const claim$ = cold('--(ab|)', values)
      const [taskA$, taskB$] = [cold('---x|'), cold('-----y|')]
      const { source, demands } = answering(claim$)

      expectObservable(
        fillSlots(source, (claim) => (claim === a ? taskA$ : taskB$), { slots }),
        '20ms !',
      ).toBe('-----x-y')
      expectSubscriptions(claim$.subscriptions).toBe('^-!')
      expectSubscriptions(taskA$.subscriptions).toBe('--^---!')
      expectSubscriptions(taskB$.subscriptions).toBe('--^-----!')
      flush()

      expect(demands).toEqual(['01', '0'])
    })
  })

  it('waits for a source that never answers', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const claim$ = cold<Claim>('-')
      const { source, demands } = answering(claim$)

      expectObservable(
        fillSlots(source, () => EMPTY, { slots }),
        '20ms !',
      ).toBe('-')
      expectSubscriptions(claim$.subscriptions).toBe('^ 19ms !')
      flush()

      expect(demands).toEqual(['01'])
    })
  })

  it('asks again when an empty claim has taken its time', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const claim$ = cold<Claim>('15ms |')
      const { source, demands } = answering(claim$, claim$)

      expectObservable(
        fillSlots(source, () => EMPTY, { slots }),
        '40ms !',
      ).toBe('-')
      expectSubscriptions(claim$.subscriptions).toBe(['^ 14ms !', '15ms ^ 14ms !'])
      flush()

      expect(demands).toEqual(['01', '01', '01'])
    })
  })

  it('does not spin when empty claims take no time', () => {
    marbles(({ expectObservable, flush }) => {
      const askedAt: number[] = []
      const source: ClaimSource = () => defer(() => (askedAt.push(asyncScheduler.now()), EMPTY))

      expectObservable(
        fillSlots(source, () => EMPTY, { slots, emptyPauseMs: 5 }),
        '21ms !',
      ).toBe('-')
      flush()

      expect(askedAt).toEqual([0, 5, 10, 15, 20])
    })
  })

  it('asks for the slots that are free, and for no more than those', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { source, demands } = answering(cold('(a|)', values), cold('--(b|)', values))
      const [taskA$, taskB$] = [cold('- 9ms x|'), cold('-')]

      expectObservable(
        fillSlots(source, (claim) => (claim === a ? taskA$ : taskB$), { slots }),
        '30ms !',
      ).toBe('- 9ms x')
      flush()

      expect(demands).toEqual(['01', '1', '0'])
    })
  })

  it('makes one demand of slots that become free in one turn', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const both$ = cold('(ab|)', values)
      const { source, demands } = answering(both$, both$, both$)

      expectObservable(
        fillSlots(source, () => cold('-----(x|)'), { slots }),
        '16ms !',
      ).toBe('-----(xx)-(xx)-(xx)')
      flush()

      expect(demands).toEqual(['01', '01', '01', '01'])
    })
  })

  it('asks once at a time', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const first$ = cold('a----|', values)
      const { source, demands } = answering(first$)

      expectObservable(
        fillSlots(source, () => cold('-(x|)'), { slots }),
        '9ms !',
      ).toBe('-x')
      expectSubscriptions(first$.subscriptions).toBe('^----!')
      flush()

      expect(demands).toEqual(['01', '01'])
    })
  })

  it('frees the slot with the first value that the work emits', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const task$ = cold('--x---y--|')
      const { source, demands } = answering(cold('(a|)', values), cold('|'), cold('(a|)', values))

      expectObservable(
        fillSlots(source, () => task$, { slots: ['w-slot-0'] }),
        '7ms !',
      ).toBe('--x---y')
      expectSubscriptions(task$.subscriptions).toBe(['^------!'])
      flush()

      expect(demands).toEqual(['0', '0'])
    })
  })

  it('frees the slot of a work that ends without a value', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { source, demands } = answering(cold('(a|)', values))

      expectObservable(
        fillSlots(source, () => cold('---|'), { slots: ['w-slot-0'] }),
        '9ms !',
      ).toBe('-')
      flush()

      expect(demands).toEqual(['0', '0'])
    })
  })

  it.each(['#', '--#', '--a-#'])('errors with the source (%s), and cuts the works', (marble) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const task$ = cold('-')
      const claim$ = cold(marble, values)
      const { source, demands } = answering(claim$)

      expectObservable(fillSlots(source, () => task$, { slots })).toBe(marble.replace('a', '-'))
      expectSubscriptions(task$.subscriptions).toBe(marble.includes('a') ? '--^-!' : [])
      flush()

      expect(demands).toEqual(['01'])
    })
  })

  it('errors with a work, and cuts the other works and the claim', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const [taskA$, taskB$] = [cold('---#'), cold('------x|')]
      const claim$ = cold('(ab)----|', values)

      expectObservable(
        fillSlots(
          () => claim$,
          (claim) => (claim === a ? taskA$ : taskB$),
          { slots },
        ),
      ).toBe('---#')
      expectSubscriptions(taskB$.subscriptions).toBe('^--!')
      expectSubscriptions(claim$.subscriptions).toBe('^--!')
    })
  })

  it('errors if source or work throws', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const claim$ = cold('-a--', values)

      expectObservable(fillSlots(fail, () => EMPTY, { slots })).toBe('#', {}, new Error('thrown'))
      expectObservable(fillSlots(() => claim$, fail, { slots })).toBe('-#', {}, new Error('thrown'))
      expectSubscriptions(claim$.subscriptions).toBe('^!')
    })
  })

  it('cuts works and claim when it is left', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const task$ = cold('--------x|')
      const claims = [cold('-(a|)', values), cold('---(b|)', values)]
      const { source } = answering(...claims)

      expectObservable(
        fillSlots(source, () => task$, { slots }),
        '---!',
      ).toBe('-')
      expectSubscriptions(task$.subscriptions).toBe('-^-!')
      expectSubscriptions(claims[1]?.subscriptions ?? []).toBe('-^-!')
    })
  })

  it('asks nothing if it is left at once, and starts nothing after it was left', () => {
    const started: string[] = []
    let asked = 0
    const source: ClaimSource = () => defer(() => (asked++, of(a, b)))
    const work = ({ taskId }: Claim): Observable<string> => {
      started.push(taskId)
      return of(taskId)
    }

    marbles(({ expectObservable, flush }) => {
      expectObservable(fillSlots(source, work, { slots }), '(^!)').toBe('')
      flush()
      expect([asked, started]).toEqual([0, []])

      expectObservable(fillSlots(source, work, { slots }).pipe(take(1))).toBe('(x|)', { x: 'a' })
      flush()
      expect([asked, started]).toEqual([1, ['a']])
    })
  })

  it('lets a source know that it was left while it delivered, so that the rest is handed back', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = marbleLanePort({
        read: () => cold('-(r|)', { r: readReply([a, b]) }),
        handBack: () => EMPTY,
      })
      const source = readNew(port, { workerId: 'w', lanes: () => [] })

      expectObservable(fillSlots(source, () => of('x'), { slots }).pipe(take(1))).toBe('-(x|)')
      flush()

      expect(port.demands()).toEqual([slots])
      expect(port.calls.handBack).toEqual([[[b]]])
    })
  })
})
