import { mergeMap } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Bell, idle, type IdleOptions, lane, type LaneReading } from '../../../src/index.js'
import { marbleLanePort, virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const mail: LaneReading = { lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }
const options: IdleOptions = { lanes: () => [mail], blockMs: 3, lookAgainMs: () => 9 }
const bells = { l: 'lanes', s: 'schedule' } as const

describe('idle', () => {
  it('emits the bell that rings, and ends', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const listening$ = cold<Bell>('--(l|)', bells)
      const port = marbleLanePort({ listen: () => listening$ })

      expectObservable(idle(port, options)).toBe('--(l|)', bells)
      expectSubscriptions(listening$.subscriptions).toBe('^-!')
      flush()

      expect(port.calls.listen).toEqual([[{ lanes: [mail], schedule: false, blockMs: 3 }]])
    })
  })

  it('listens in turns, one at a time', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const turns = [cold<Bell>('---|'), cold<Bell>('---|'), cold<Bell>('-(s|)', bells)]
      const port = marbleLanePort({ listen: () => turns[port.calls.listen.length - 1] ?? cold('#') })

      expectObservable(idle(port, options)).toBe('-------(s|)', bells)
      turns.forEach((turn$, index) => {
        expectSubscriptions(turn$.subscriptions).toBe(['^--!', '---^--!', '------^!'][index] ?? '')
      })
      flush()

      expect(port.calls.listen).toHaveLength(3)
    })
  })

  it('ends without a bell when it is time to look again, to the millisecond', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = marbleLanePort({ listen: ({ blockMs }) => cold(`${blockMs}ms |`) })

      expectObservable(idle(port, { ...options, blockMs: 4 })).toBe('9ms |')
      flush()

      expect(port.calls.listen.map(([{ blockMs }]) => blockMs)).toEqual([4, 4, 1])
    })
  })

  it.each([0, 0.2, -5])(
    'listens at least for a millisecond, also when it should look again in %d ms',
    (lookAgainMs) => {
      marbles(({ cold, expectObservable, flush }) => {
        const port = marbleLanePort({ listen: ({ blockMs }) => cold(`${blockMs}ms |`) })

        expectObservable(idle(port, { ...options, lookAgainMs: () => lookAgainMs })).toBe('-|')
        flush()

        expect(port.calls.listen.map(([{ blockMs }]) => blockMs)).toEqual([1])
      })
    },
  )

  it('asks for lanes and schedule afresh with each turn', () => {
    marbles(({ cold, expectObservable, flush }) => {
      let turns = 0
      const port = marbleLanePort({ listen: () => cold('---|') })

      expectObservable(
        idle(port, {
          ...options,
          lanes: () => (turns++ === 0 ? [] : [mail]),
          schedule: () => turns > 1,
          lookAgainMs: () => 6,
        }),
      ).toBe('------|')
      flush()

      expect(port.calls.listen.map(([{ lanes, schedule }]) => [lanes, schedule])).toEqual([
        [[], false],
        [[mail], true],
      ])
    })
  })

  it('waits beyond its time for a listening that is slow to end', () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(idle(marbleLanePort({ listen: () => cold('20ms |') }), options)).toBe('20ms |')
      expectObservable(idle(marbleLanePort({ listen: () => cold('-') }), options)).toBe('-')
    })
  })

  it('passes on a fault', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const listening$ = cold<Bell>('--#')

      expectObservable(idle(marbleLanePort({ listen: () => listening$ }), options)).toBe('--#')
      expectSubscriptions(listening$.subscriptions).toBe('^-!')
    })
  })

  it.each(['lanes', 'lookAgainMs', 'schedule'])('errors if %s throws', (name) => {
    marbles(({ cold, expectObservable }) => {
      const fail = (): never => {
        throw new Error('thrown')
      }
      const port = marbleLanePort({ listen: () => cold('---|') })

      expectObservable(idle(port, { ...options, [name]: fail })).toBe('#', {}, new Error('thrown'))
    })
  })

  it('stops listening when it is left', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const listening$ = cold<Bell>('---|')

      expectObservable(idle(marbleLanePort({ listen: () => listening$ }), options), '----!').toBe('-')
      expectSubscriptions(listening$.subscriptions).toBe(['^--!', '---^!'])
    })
  })

  it('measures each subscription by itself', () => {
    marbles(({ cold, expectObservable }) => {
      const idle$ = idle(marbleLanePort({ listen: ({ blockMs }) => cold(`${blockMs}ms |`) }), options)

      expectObservable(idle$).toBe('9ms |')
      expectObservable(idle$, '5ms ^').toBe('14ms |')
    })
  })

  it('hears what happens in the lanes', () => {
    marbles(({ cold, expectObservable }) => {
      const port = virtualLanePort()
      cold('5ms (x|)')
        .pipe(mergeMap(() => port.enqueue({ taskId: 'a', lane: mail.lane }), 1))
        .subscribe()

      expectObservable(idle(port, options)).toBe('5ms (l|)', bells)
    })
  })
})
