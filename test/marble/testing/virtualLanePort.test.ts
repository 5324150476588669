import { concatMap, map, type Observable } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { InvalidOptionError, lane, type LaneReading, type ReadRequest } from '../../../src/index.js'
import { readReply, virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const mail = lane('mail', 1)
const reading: LaneReading = { lane: mail, visibilityTimeoutMs: 100 }
const request: ReadRequest = { workerId: 'w', slots: ['w-slot-0'], lanes: [reading] }

describe('virtualLanePort', () => {
  it('is used as its documentation shows', () => {
    marbles(({ expectObservable }) => {
      const port = virtualLanePort()
      const taken$ = port.enqueue({ taskId: 'a', lane: mail }).pipe(
        concatMap(() => port.read(request)),
        map(({ claims }) => claims[0]?.taskId),
      )

      expectObservable(taken$).toBe('(a|)')
    })
  })

  it('has its effect on subscribe, and answers after the latency', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = virtualLanePort({ latencyMs: 3 })
      const lengths: number[] = []
      for (const at of ['-|', '---|']) cold(at).subscribe({ complete: () => lengths.push(port.length(mail)) })

      expectObservable(port.enqueue({ taskId: 'a', lane: mail }).pipe(map(() => 'x'))).toBe('---(x|)')
      flush()

      expect(lengths).toEqual([1, 1])
    })
  })

  it('stands by its effect when nobody waits for the reply', () => {
    marbles(({ expectObservable, flush }) => {
      const port = virtualLanePort({ latencyMs: 3 })

      expectObservable(port.enqueue({ taskId: 'a', lane: mail }), '-!').toBe('-')
      flush()

      expect(port.length(mail)).toBe(1)
    })
  })

  it('rings after the latency, to the millisecond', () => {
    marbles(({ cold, expectObservable }) => {
      const port = virtualLanePort({ latencyMs: 3 })
      const listen = (blockMs: number): Observable<string | undefined> =>
        port.listen({ ...request, slots: [], schedule: false, blockMs }).pipe(map(({ bell }) => bell))
      cold('-----(x|)')
        .pipe(concatMap(() => port.enqueue({ taskId: 'a', lane: mail })))
        .subscribe()

      expectObservable(listen(10)).toBe('--------(l|)', { l: 'lanes' })
      expectObservable(listen(10)).toBe('-------------(u|)', { u: undefined })
    })
  })

  it('gives a ring on its way to the next when its listener leaves', () => {
    marbles(({ cold, expectObservable }) => {
      const port = virtualLanePort({ latencyMs: 3 })
      const bell$ = port.listen({ ...request, slots: [], schedule: false, blockMs: 20 }).pipe(map(({ bell }) => bell))
      cold('-----(x|)')
        .pipe(concatMap(() => port.enqueue({ taskId: 'a', lane: mail })))
        .subscribe()

      expectObservable(bell$, '------!').toBe('-')
      expectObservable(bell$).toBe('---------(l|)', { l: 'lanes' })
    })
  })

  it('reads when it rings, in the same latency', () => {
    marbles(({ cold, expectObservable }) => {
      const port = virtualLanePort({ latencyMs: 3 })
      const taskIds$ = port
        .listen({ ...request, schedule: false, blockMs: 20 })
        .pipe(map(({ claims }) => claims.map(({ taskId }) => taskId)))
      cold('-----(x|)')
        .pipe(concatMap(() => port.enqueue({ taskId: 'a', lane: mail })))
        .subscribe()

      expectObservable(taskIds$).toBe('--------(a|)', { a: ['a'] })
    })
  })

  it('puts claims on their way back when their listener leaves, and rings for them', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = virtualLanePort({ latencyMs: 3 })
      const listening = { ...request, schedule: false, blockMs: 20 }
      cold('-----(x|)')
        .pipe(concatMap(() => port.enqueue({ taskId: 'a', lane: mail })))
        .subscribe()

      expectObservable(port.listen(listening), '------!').toBe('-')
      const other$ = port.listen({ ...listening, workerId: 'v', slots: ['v-slot-0'] })
      expectObservable(other$.pipe(map(({ claims }) => claims[0]?.taskId)), '-------^').toBe('----------(a|)')
      flush()

      expect(port.pending()).toMatchObject([{ taskId: 'a', consumer: 'v-slot-0', deliveryCount: 1 }])
    })
  })

  it('forgets after a minute to wake a worker', () => {
    marbles(({ expectObservable }) => {
      const port = virtualLanePort()
      const heard$ = port.listen({ ...request, slots: [], schedule: false, blockMs: 5 }).pipe(map(() => 'x'))
      port.wake('w').subscribe()
      port.wake('v').subscribe()

      expectObservable(heard$, '59999ms ^').toBe('59999ms (x|)')
      expectObservable(
        port.listen({ ...request, workerId: 'v', slots: [], schedule: false, blockMs: 5 }).pipe(map(() => 'x')),
        '60s ^',
      ).toBe('60s -----(x|)')
    })
  })

  it('becomes stale in the very millisecond', () => {
    marbles(({ expectObservable }) => {
      const port = virtualLanePort()
      port.enqueue({ taskId: 'a', lane: mail }).subscribe()
      port.read({ ...request, workerId: 'dead', slots: ['dead-slot-0'] }).subscribe()
      const swept$ = port.sweep(request).pipe(map(({ claims, nextStaleMs }) => [claims.length, nextStaleMs]))

      expectObservable(swept$).toBe('(a|)', { a: [0, 100] })
      expectObservable(swept$, '99ms ^').toBe('99ms (a|)', { a: [0, 1] })
      expectObservable(swept$, '100ms ^').toBe('100ms (a|)', { a: [1, 100] })
    })
  })

  it('fails an operation as often as it was told, without effect, after the latency', () => {
    marbles(({ expectObservable, flush }) => {
      const port = virtualLanePort({ latencyMs: 2 })
      const [first, second] = [new Error('first'), new Error('second')]
      port.failNext('enqueue', first)
      port.failNext('enqueue', second)
      const enqueued$ = port.enqueue({ taskId: 'a', lane: mail }).pipe(map(() => 'x'))

      expectObservable(enqueued$).toBe('--#', {}, first)
      expectObservable(enqueued$, '-^').toBe('---#', {}, second)
      expectObservable(enqueued$, '--^').toBe('----(x|)')
      flush()

      expect(port.length(mail)).toBe(1)
      expect(port.calls.enqueue).toHaveLength(3)
    })
  })

  it('lets marbles stand in for operations, until they are taken away', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = virtualLanePort()
      const reply = readReply([], { full: [mail] })
      const full$ = port.read(request).pipe(map(({ full }) => full.length))
      port.enqueue({ taskId: 'a', lane: mail }).subscribe()

      port.override({ read: () => cold('---(r|)', { r: reply }) })
      expectObservable(full$).toBe('---(n|)', { n: 1 })
      flush()
      expect(port.pending()).toEqual([])

      port.override({})
      expectObservable(full$).toBe('---(n|)', { n: 0 })
      flush()
      expect(port.demands()).toEqual([['w-slot-0'], ['w-slot-0']])
    })
  })

  it('lets its state be looked at', () => {
    marbles(() => {
      const port = virtualLanePort()
      const capped = { ...request, lanes: [{ ...reading, cap: 2 }] }
      expect([port.length(mail), port.pending(mail), port.consumers(mail)]).toEqual([0, [], []])

      port.enqueue({ taskId: 'a', lane: mail }).subscribe()
      port.enqueue({ taskId: 'b', lane: mail, notBefore: 70 }).subscribe()
      port.enqueue({ taskId: 'c', lane: mail, notBefore: 60 }).subscribe()
      port.read(capped).subscribe()
      port.promote({ promoterId: 'w', roleMs: 10, limit: 1 }).subscribe()

      expect(port.length(mail)).toBe(1)
      expect(port.pending(mail)).toMatchObject([
        { lane: mail, taskId: 'a', consumer: 'w-slot-0', deliveryCount: 1, idleSince: 0 },
      ])
      expect(port.pending()).toEqual(port.pending(mail))
      expect(port.consumers(mail)).toEqual(['w-slot-0'])
      expect(port.holders('mail')).toBe(1)
      expect(port.promoter()).toBe('w')
      expect(port.parked()).toEqual([
        { entry: { taskId: 'c', lane: mail }, dueAt: 60 },
        { entry: { taskId: 'b', lane: mail }, dueAt: 70 },
      ])
    })
  })

  it.each([-1, Number.NaN])('refuses a latency of %d', (latencyMs) => {
    expect(() => virtualLanePort({ latencyMs })).toThrow(InvalidOptionError)
  })
})
