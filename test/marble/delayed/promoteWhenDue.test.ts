import { asyncScheduler, ignoreElements, NEVER, of } from 'rxjs'
import { describe, expect, it } from 'vitest'

import {
  lane,
  type LaneEvent,
  promoteWhenDue,
  type PromoteReply,
  type PromoteWhenDueOptions,
} from '../../../src/index.js'
import { marbleLanePort, promoteReply, virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const setup = (): { events: LaneEvent[]; options: PromoteWhenDueOptions } => {
  const events: LaneEvent[] = []
  const options = {
    promoterId: 'w',
    intervalMs: 100,
    random: () => 0.5,
    report: (event: LaneEvent) => {
      events.push(event)
    },
  }
  return { events, options }
}

const replies = {
  // nothing is parked
  n: promoteReply(),
  // the next is due in 40, and in 400
  s: promoteReply({ nextDueMs: 40 }),
  l: promoteReply({ nextDueMs: 400 }),
  // three were moved, the next is due in 40
  m: promoteReply({ moved: 3, nextDueMs: 40 }),
  // a whole batch was moved, and more is due
  b: promoteReply({ moved: 5, nextDueMs: 0 }),
  // somebody else promotes
  o: promoteReply({ isPromoter: false }),
}

describe('promoteWhenDue', () => {
  it.each([
    // answer to each step, emitted replies
    ['sleeps until the next is due', 's', 's 39ms s 39ms s'],
    ['looks once an interval when the next is due later', 'l', 'l 99ms l'],
    ['looks every two intervals to keep the role when nothing is parked', 'n', 'n'],
    ['looks whether the role is free, at a random time between one and two intervals', 'o', 'o'],
  ])('%s', (_, answer, expected) => {
    marbles(({ cold, expectObservable }) => {
      const { options } = setup()
      const port = marbleLanePort({ promote: () => cold(`(${answer}|)`, replies) })

      expectObservable(promoteWhenDue(port, options), '110ms !').toBe(expected, replies)
    })
  })

  it.each([
    ['nothing is parked', 'n', 200],
    ['somebody else promotes', 'o', 150],
  ])('rests between steps when %s', (_, answer, restMs) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const { options } = setup()
      const step$ = cold(`-(${answer}|)`, replies)
      const port = marbleLanePort({ promote: () => step$ })

      expectObservable(promoteWhenDue(port, options), '250ms !').toBe(`-${answer} ${restMs}ms ${answer}`, replies)
      // The rest is measured from the end of a step.
      expectSubscriptions(step$.subscriptions).toBe(['^!', `${restMs + 1}ms ^!`])
      flush()

      expect(port.calls.promote[0]).toEqual([{ promoterId: 'w', roleMs: 300, limit: 250 }])
    })
  })

  it('moves a burst in batches without a pause, and reports each', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { events, options } = setup()
      const answers = ['-(b|)', '-(b|)', '-(m|)'].map((marble) => cold(marble, replies))
      const port = marbleLanePort({ promote: () => answers.shift() ?? NEVER })

      expectObservable(promoteWhenDue(port, { ...options, batch: 5 }), '50ms !').toBe('-bbm', replies)
      flush()

      expect(events).toEqual([5, 5, 3].map((count) => ({ kind: 'promoted', count })))
      expect(port.calls.promote.map(([{ limit }]) => limit)).toEqual([5, 5, 5, 5])
    })
  })

  it('is one step at a time', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { options } = setup()
      const step$ = cold('-----(s|)', replies)
      const poke$ = hot('--x')

      expectObservable(promoteWhenDue(marbleLanePort({ promote: () => step$ }), { ...options, poke$ }), '8ms !').toBe(
        '-----s',
        replies,
      )
      expectSubscriptions(step$.subscriptions).toBe(['^----!', '-----^--!'])
    })
  })

  it('looks at once when it is poked', () => {
    marbles(({ cold, hot, expectObservable, flush }) => {
      const { options } = setup()
      const port = marbleLanePort({ promote: () => cold('(n|)', replies) })

      expectObservable(promoteWhenDue(port, { ...options, poke$: hot('-----x---x') }), '20ms !').toBe(
        'n----n---n',
        replies,
      )
      flush()

      expect(port.calls.promote).toHaveLength(3)
    })
  })

  it('does not forget a poke that comes while a step is under way', () => {
    marbles(({ cold, hot, expectObservable }) => {
      const { options } = setup()
      const answers = [cold('-----(n|)', replies), cold('-(s|)', replies)]
      const port = marbleLanePort({ promote: () => answers.shift() ?? NEVER })

      expectObservable(promoteWhenDue(port, { ...options, poke$: hot('---x') }), '20ms !').toBe('-----ns', replies)
    })
  })

  it('makes one step of several pokes', () => {
    marbles(({ cold, hot, expectObservable, flush }) => {
      const { options } = setup()
      const port = marbleLanePort({ promote: () => cold('-----(n|)', replies) })

      expectObservable(promoteWhenDue(port, { ...options, poke$: hot('-xxx') }), '30ms !').toBe('-----n----n', replies)
      flush()

      expect(port.calls.promote).toHaveLength(2)
    })
  })

  it('goes on without pokes when they end', () => {
    marbles(({ cold, hot, expectObservable }) => {
      const { options } = setup()
      const port = marbleLanePort({ promote: () => cold('(s|)', replies) })

      expectObservable(promoteWhenDue(port, { ...options, poke$: hot('--|') }), '50ms !').toBe('s 39ms s', replies)
    })
  })

  it('reports a fault and rests, twice as long with each in a row, and anew after a success', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const { events, options } = setup()
      const [error$, reply$] = [cold<PromoteReply>('#', {}, 'away'), cold('(s|)', replies)]
      const answers = [error$, error$, reply$, error$]
      const port = marbleLanePort({ promote: () => answers.shift() ?? NEVER })

      expectObservable(promoteWhenDue(port, options), '400ms !').toBe('225ms s', replies)
      flush()

      expect(events).toEqual(
        [75, 150, 75].map((restMs) => ({ kind: 'brokerError', activity: 'promote', error: 'away', restMs })),
      )
    })
  })

  it('looks again soon after it is woken from the rest after a fault', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { options } = setup()
      const step$ = cold<PromoteReply>('#')
      const wake$ = hot('----x')

      // A rest of 750; 37 and a half after the wake.
      expectObservable(
        promoteWhenDue(marbleLanePort({ promote: () => step$ }), { ...options, intervalMs: 1_000, wake$ }),
        '100ms !',
      ).toBe('-')
      expectSubscriptions(step$.subscriptions).toBe(['(^!)', '42ms (^!)'])
    })
  })

  it('treats a port that throws as one that errors', () => {
    marbles(({ expectObservable, flush }) => {
      const { events, options } = setup()
      const error = new Error('thrown')
      const port = marbleLanePort({
        promote: () => {
          throw error
        },
      })

      expectObservable(promoteWhenDue(port, options), '50ms !').toBe('-')
      flush()

      expect(events).toEqual([{ kind: 'brokerError', activity: 'promote', error, restMs: 75 }])
    })
  })

  it('waits for a step that never answers', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { options } = setup()
      const step$ = cold<PromoteReply>('-')

      expectObservable(promoteWhenDue(marbleLanePort({ promote: () => step$ }), options), '900ms !').toBe('-')
      expectSubscriptions(step$.subscriptions).toBe('^ 899ms !')
    })
  })

  it('looks again after an interval if a step ends without an answer', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { options } = setup()
      const step$ = cold<PromoteReply>('-|')

      expectObservable(promoteWhenDue(marbleLanePort({ promote: () => step$ }), options), '150ms !').toBe('-')
      expectSubscriptions(step$.subscriptions).toBe(['^!', '101ms ^!'])
    })
  })

  it('leaves step, timer and pokes when it is left', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { options } = setup()
      const step$ = cold('--(s|)', replies)
      const poke$ = hot('-')

      expectObservable(promoteWhenDue(marbleLanePort({ promote: () => step$ }), { ...options, poke$ }), '5ms !').toBe(
        '--s',
        replies,
      )
      expectSubscriptions(step$.subscriptions).toBe('^-!')
      expectSubscriptions(poke$.subscriptions).toBe('^----!')
    })
  })

  it('takes 100,000 batches without a pause', async () => {
    let steps = 0
    const { options } = setup()
    const port = marbleLanePort({
      promote: () => (steps++ < 100_000 ? of(promoteReply({ moved: 1, nextDueMs: 0 })) : NEVER),
    })

    const subscription = promoteWhenDue(port, { ...options, batch: 1, report: () => undefined }).subscribe()
    while (steps <= 100_000) await new Promise((resolve) => setImmediate(resolve))
    subscription.unsubscribe()

    expect(steps).toBe(100_001)
  })

  it('moves each task in the millisecond in which it is due, whichever of two has the role', () => {
    marbles(({ expectObservable, flush }) => {
      const port = virtualLanePort()
      const mail = lane('mail', 1)
      const { options } = setup()
      const promotedAt: number[] = []
      const report = ({ kind }: LaneEvent): void => {
        if (kind === 'promoted') promotedAt.push(asyncScheduler.now())
      }
      const due = [15, 40, 41, 260, 1_200, 1_500]
      for (const notBefore of due) port.enqueue({ taskId: 'a', lane: mail, notBefore }).subscribe()
      const [v$, w$] = ['v', 'w'].map((promoterId) =>
        promoteWhenDue(port, { ...options, promoterId, report }).pipe(ignoreElements()),
      )

      expectObservable(v$ ?? NEVER, '500ms !').toBe('-')
      expectObservable(w$ ?? NEVER, '1700ms !').toBe('-')
      flush()

      expect(promotedAt).toEqual(due)
      expect(port.length(mail)).toBe(due.length)
    })
  })
})
