/* eslint-disable rxjs-x/finnish -- functions that are values here: they carry no dollar, as functions nowhere do */
import {
  asapScheduler,
  asyncScheduler,
  BehaviorSubject,
  concat,
  defer,
  EMPTY,
  finalize,
  first,
  from,
  ignoreElements,
  mergeMap,
  type Observable,
  of,
  repeat,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { type Claim, type ClaimSource, fillSlots } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'
import { numbered } from './workers.js'

type Work = (claim: Claim) => Observable<string>
type Fill = (source: ClaimSource, work: Work, options: { slots: readonly string[] }) => Observable<string>

const EMPTY_PAUSE_MS = 10

/**
 * The same in stock operators. It is short and plainly right, but it overflows the stack when works end at once, cannot
 * drain, and trusts its source and its works.
 */
const model: Fill = (source, work, { slots }) =>
  defer(() => {
    const free$ = new BehaviorSubject(slots)
    const take = (slot: string): void => {
      free$.next(free$.value.filter((name) => name !== slot))
    }
    const give = (slot: string): void => {
      free$.next(slots.filter((name) => name === slot || free$.value.includes(name)))
    }
    const claims$ = free$.pipe(
      first((free) => free.length > 0),
      switchMap(() => timer(0, asapScheduler)),
      switchMap(() => pausing(source(free$.value))),
      repeat(),
    )
    return claims$.pipe(
      mergeMap((claim) => {
        take(claim.slot)
        return work(claim).pipe(
          finalize(() => {
            give(claim.slot)
          }),
        )
      }, slots.length),
    )
  })

/** The least time that an empty claim takes. */
const pausing = (claim$: Observable<Claim>): Observable<Claim> =>
  defer(() => {
    const askedAt = asyncScheduler.now()
    let isEmpty = true
    const pause$ = defer(() =>
      isEmpty ? timer(Math.max(0, EMPTY_PAUSE_MS - (asyncScheduler.now() - askedAt))).pipe(ignoreElements()) : EMPTY,
    )
    return concat(claim$.pipe(tap(() => (isEmpty = false))), pause$)
  })

/** What happens in a run: how long each claim takes and how much it brings, how long each work takes. */
interface Plan {
  readonly slots: number
  readonly claims: readonly { readonly afterMs: number; readonly share: number; readonly spacedMs: number }[]
  readonly works: readonly { readonly ms: number; readonly emits: boolean }[]
}

interface Run {
  readonly demands: [atMs: number, demand: string][]
  readonly emitted: [atMs: number, taskId: string][]
  readonly claimedAt: Map<string, number>
  readonly startedAt: Map<string, number[]>
  most: number
}

const plans: fc.Arbitrary<Plan> = fc.record({
  slots: fc.integer({ min: 1, max: 6 }),
  claims: fc.array(
    fc.record({
      afterMs: fc.integer({ min: 1, max: 15 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      spacedMs: fc.constantFrom(0, 0, 0, 3),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  works: fc.array(fc.record({ ms: fc.integer({ min: 0, max: 40 }), emits: fc.boolean() }), {
    minLength: 1,
    maxLength: 20,
  }),
})

const perform = (fill: Fill, { slots: count, claims, works }: Plan, forMs: number): Run => {
  const slots = numbered('w-slot-', count)
  const run: Run = { demands: [], emitted: [], claimedAt: new Map(), startedAt: new Map(), most: 0 }
  let [asked, brought, worked, open] = [0, 0, 0, 0]

  const source: ClaimSource = (demand) =>
    defer(() => {
      const { afterMs, share, spacedMs } = claims[asked++ % claims.length] ?? { afterMs: 1, share: 1, spacedMs: 0 }
      run.demands.push([asyncScheduler.now(), demand.map((slot) => slot.replace('w-slot-', '')).join('')])
      const taken = demand.slice(0, Math.round(share * demand.length))
      const claims$ = from(taken).pipe(
        mergeMap((slot, index) => {
          const claim = defer(() => of(claimOf(slot, { taskId: String(brought++) })))
          return spacedMs === 0 ? claim : timer(index * spacedMs).pipe(switchMap(() => claim))
        }, Infinity),
        tap(({ taskId }) => run.claimedAt.set(taskId, asyncScheduler.now())),
      )
      return timer(afterMs).pipe(switchMap(() => claims$))
    })

  const work: Work = ({ taskId }) =>
    defer(() => {
      const { ms, emits } = works[worked++ % works.length] ?? { ms: 0, emits: true }
      run.startedAt.set(taskId, [...(run.startedAt.get(taskId) ?? []), asyncScheduler.now()])
      run.most = Math.max(run.most, ++open)
      const outcome$ = defer(() => {
        open--
        return emits ? of(taskId) : EMPTY
      })
      return ms === 0 ? outcome$ : timer(ms).pipe(switchMap(() => outcome$))
    })

  marbles(({ flush }) => {
    fill(source, work, { slots })
      .pipe(takeUntil(timer(forMs + 0.5)))
      .subscribe((taskId) => run.emitted.push([asyncScheduler.now(), taskId]))
    flush()
  })
  return run
}

describe('fillSlots, beside a model in stock operators', () => {
  it('makes the same demands at the same time, and emits the same', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const [actual, expected] = [perform(fillSlots, plan, 400), perform(model, plan, 400)]

        expect(actual.demands).toEqual(expected.demands)
        expect(actual.emitted).toEqual(expected.emitted)
        expect(actual.startedAt).toEqual(expected.startedAt)
      }),
      { numRuns: 150 },
    )
  })

  it('starts each claim once and at once, and never more than it has slots', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const { claimedAt, startedAt, most } = perform(fillSlots, plan, 400)

        expect(startedAt).toEqual(new Map([...claimedAt].map(([taskId, atMs]) => [taskId, [atMs]])))
        expect(most).toBeLessThanOrEqual(plan.slots)
      }),
      { numRuns: 150 },
    )
  })

  it('keeps asking while a slot is free', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const slowest = Math.max(...plan.claims.map(({ afterMs, spacedMs }) => afterMs + 6 * spacedMs))
        const slowestWork = Math.max(...plan.works.map(({ ms }) => ms))
        const { demands } = perform(fillSlots, plan, 400)

        demands.slice(1).forEach(([atMs], index) => {
          const sinceMs = atMs - (demands[index]?.[0] ?? 0)
          expect(sinceMs).toBeLessThanOrEqual(Math.max(slowest, EMPTY_PAUSE_MS) + slowestWork)
        })
        expect(demands.length).toBeGreaterThan(1)
      }),
      { numRuns: 50 },
    )
  })
})
