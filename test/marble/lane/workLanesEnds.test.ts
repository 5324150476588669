import { concatMap, EMPTY, NEVER, type Observable, takeUntil, throwError, timer } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { lane, type ListenRequest, OutcomeUnknownError } from '../../../src/index.js'
import { virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'
import { at, fill, numbered, runFor, taskIdsOf, workerOn } from './workers.js'

const mail = lane('mail', 1)

describe('workLanes, told to stop', () => {
  it('lets what runs end, and takes nothing further', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort()
      fill(port, mail, 'a', 'b', 'c')
      const { task$, log } = workerOn(port, { workMs: 100, stop$: timer(50) })

      expectObservable(task$).toBe('100ms (x|)', { x: 'a' })
      flush()

      expect(log.started).toEqual([['a', 0]])
      expect(port.length(mail)).toBe(2)
      expect(port.pending()).toEqual([])
    })
  })

  it('ends at once when it is idle', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort()
      const { task$ } = workerOn(port, { stop$: timer(1_050) })

      expectObservable(task$).toBe('1050ms |')
      flush()
    })
  })

  it('works on what its wait claims in the very moment', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort({ latencyMs: 3 })
      const { task$, log } = workerOn(port, { stop$: timer(1_050) })
      at(1_049, () => port.enqueue({ taskId: 'a', lane: mail }))

      // The bell and the claim are answered after 1,052, the work ends after 1,062, its settlement after 1,065.
      expectObservable(task$).toBe('1065ms (x|)', { x: 'a' })
      flush()

      expect(log.events).toEqual([])
      expect([port.length(mail), port.pending()]).toEqual([0, []])
    })
  })

  it.each([1_048, 1_049, 1_050, 1_051, 1_052, 1_053])(
    'strands nothing that comes while it stops, after %d ms',
    (comesAtMs) => {
      marbles(({ flush }) => {
        const port = virtualLanePort({ latencyMs: 2 })
        const { task$ } = workerOn(port, { stop$: timer(1_050) })
        at(comesAtMs, () => port.enqueue({ taskId: 'a', lane: mail }))

        const done = taskIdsOf(runFor(3_000, flush, task$))

        expect(port.pending()).toEqual([])
        expect(port.length(mail) + done.length).toBe(1)
      })
    },
  )

  it('ends within half a second when its wait is not answered', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort()
      port.override({ listen: () => NEVER })
      const { task$ } = workerOn(port, { stop$: timer(1_050) })

      expectObservable(task$).toBe('1550ms |')
      flush()
    })
  })

  it('ends at once when it cannot be woken', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort()
      port.failNext('wake', new Error('away'))
      const { task$, log } = workerOn(port, { stop$: timer(1_050) })

      expectObservable(task$).toBe('1050ms |')
      flush()

      expect(log.events).toMatchObject([{ kind: 'brokerError', activity: 'wake' }])
    })
  })

  it('asks nothing more of the lanes once it was told, but to be woken', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort()
      const { task$ } = workerOn(port, { stop$: timer(1_050) })
      const asked = (): unknown => {
        const { wake: _, ...others } = port.calls
        return Object.entries(others).map(([name, { length }]) => [name, length])
      }
      let before: unknown
      at(1_049, () => {
        before = asked()
        return EMPTY
      })

      expectObservable(task$).toBe('1050ms |')
      flush()

      expect(port.calls.wake).toEqual([['w']])
      expect(asked()).toEqual(before)
    })
  })

  it('does not read after a sweep that was on its way', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort({ latencyMs: 30 })
      const { task$ } = workerOn(port, { stop$: timer(10) })

      expectObservable(task$).toBe('30ms |')
      flush()

      expect([port.calls.sweep.length, port.calls.read.length]).toEqual([1, 0])
    })
  })

  it('works on what a read brings that was on its way', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort({ latencyMs: 30 })
      fill(port, mail, 'a')
      const { task$ } = workerOn(port, { stop$: timer(40) })

      // Sweep and read are answered after 60, the work ends after 70, its settlement after 100.
      expectObservable(task$).toBe('100ms (x|)', { x: 'a' })
      flush()

      expect(port.length(mail)).toBe(0)
    })
  })

  it('cuts a rest short', () => {
    marbles(({ flush, expectObservable }) => {
      const port = virtualLanePort()
      port.failNext('sweep', new Error('away'))
      const { task$ } = workerOn(port, { retryBackoffMs: 5_000, stop$: timer(20) })

      expectObservable(task$).toBe('20ms |')
      flush()
    })
  })

  it('begins nothing if it was told before', () => {
    marbles(({ cold, flush, expectObservable }) => {
      const port = virtualLanePort()
      fill(port, mail, 'a')
      const { task$ } = workerOn(port, { stop$: cold('(s|)') })

      expectObservable(task$).toBe('|')
      flush()

      expect([port.calls.read, port.calls.sweep]).toEqual([[], []])
    })
  })
})

describe('workLanes, left', () => {
  it('cuts its works, and leaves their claims to recovery', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      fill(port, mail, 'a', 'b')
      const { task$ } = workerOn(port, { slots: 2, workMs: 500 })

      expect(runFor(100, flush, task$)).toEqual([])

      expect(port.calls.settle).toEqual([])
      expect(port.pending()).toHaveLength(2)
    })
  })

  it('hands back the claims that are on their way, so that they run elsewhere at once', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs: 30 })
      fill(port, mail, 'a', 'b')
      const left = workerOn(port, { workerId: 'v', slots: 2 })
      const other = workerOn(port, { slots: 2 })
      at(200, () => other.task$.pipe(takeUntil(timer(800))))

      runFor(50, flush, left.task$)

      expect(port.calls.handBack.map(([claims]) => claims.map(({ taskId }) => taskId))).toEqual([['a', 'b']])
      expect(other.log.started.map(([taskId]) => taskId)).toEqual(['a', 'b'])
      expect(left.log.started).toEqual([])
    })
  })

  it('passes on the bell that it listened for', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs: 5 })
      const left = workerOn(port, { workerId: 'v' })
      const other = workerOn(port)
      at(102, () => port.enqueue({ taskId: 'a', lane: mail }))

      runFor(104, () => undefined, left.task$)
      runFor(1_000, flush, other.task$)

      expect(left.log.started).toEqual([])
      expect(other.log.started[0]?.[1]).toBeLessThanOrEqual(102 + 20)
    })
  })
})

describe('workLanes, in trouble', () => {
  it('rests after faults, reports each, and goes on', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      fill(port, mail, 'a')
      const error = new Error('away')
      port.failNext('read', error)
      port.failNext('read', error)
      const { task$, log } = workerOn(port, { retryBackoffMs: 100 })

      runFor(1_000, flush, task$)

      // Three quarters of 100 and of 200, because half of the rest is random.
      expect(log.events).toEqual([
        { kind: 'brokerError', activity: 'claim', error, restMs: 75 },
        { kind: 'brokerError', activity: 'claim', error, restMs: 150 },
      ])
      expect(log.started).toEqual([['a', 225]])
    })
  })

  it.each(['sweep', 'listen', 'promote', 'knownLanes', 'retire'] as const)('survives a fault of %s', (operation) => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      port.failNext(operation, new Error('away'))
      const { task$, log } = workerOn(port)
      fill(port, mail, 'a')
      at(3_000, () => port.enqueue({ taskId: 'b', lane: mail }))

      expect(taskIdsOf(runFor(6_000, flush, task$))).toEqual(['a', 'b'])

      expect(log.events.map(({ kind }) => kind)).toEqual(['brokerError'])
      expect(log.started[1]?.[1]).toBe(3_000)
    })
  })

  it('goes on when Redis has been away for a while', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      const error = new Error('away')
      const { task$, log } = workerOn(port)
      const gone = (): never => {
        throw error
      }
      at(1_000, () => {
        port.override({ read: gone, sweep: gone, listen: gone, promote: gone })
        return EMPTY
      })
      at(31_000, () => {
        port.override({})
        return port.enqueue({ taskId: 'a', lane: mail })
      })

      expect(taskIdsOf(runFor(40_000, flush, task$))).toEqual(['a'])

      expect(log.events.length).toBeGreaterThan(10)
      expect(log.events.length).toBeLessThan(60)
      expect(log.started[0]?.[1]).toBeLessThanOrEqual(36_000)
    })
  })

  it('takes at once what it has claimed without learning of it', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      const { task$, log } = workerOn(port)
      const listen = ({ workerId, slots, lanes }: ListenRequest): Observable<never> =>
        timer(500).pipe(
          concatMap(() => port.read({ workerId, slots, lanes })),
          concatMap(() => {
            port.override({})
            return throwError(() => new OutcomeUnknownError('listen'))
          }),
        )
      at(1_000, () => {
        port.override({ listen })
        return EMPTY
      })
      at(1_200, () => port.enqueue({ taskId: 'a', lane: mail }))

      runFor(3_000, flush, task$)

      // Its wait begins a second after the start; the claim is found after the rest.
      expect(log.started).toEqual([['a', 1_500 + 75]])
    })
  })

  it('makes the lost group of a lane anew', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      const { task$ } = workerOn(port)
      at(500, () => {
        port.destroyGroup(mail)
        return port.enqueue({ taskId: 'a', lane: mail })
      })

      expect(runFor(2_000, flush, task$)).toEqual([['a', 510]])
    })
  })

  it('stays quiet while its lane is paused, and wakes within a second', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      const { task$, log } = workerOn(port)
      port.pause(mail)
      fill(port, mail, 'a')
      at(5_000, () => {
        port.resume(mail)
        return EMPTY
      })

      runFor(7_000, flush, task$)

      expect(log.started[0]?.[1]).toBeGreaterThanOrEqual(5_000)
      expect(log.started[0]?.[1]).toBeLessThanOrEqual(6_000)
      expect(port.calls.read.length).toBeLessThan(20)
    })
  })
})

describe('workLanes, under load', () => {
  it('goes through 20,000 works that end at once', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort()
      fill(port, mail, ...numbered('m', 20_000))
      const { task$, log } = workerOn(port, { slots: 8, workMs: 0 })

      expect(runFor(10, flush, task$)).toHaveLength(20_000)

      expect(log.most).toBe(1)
      expect(port.length(mail)).toBe(0)
    })
  })
})
