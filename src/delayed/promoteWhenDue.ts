import {
  asapScheduler,
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  endWith,
  ignoreElements,
  merge,
  NEVER,
  type Observable,
  repeat,
  type SchedulerLike,
  share,
  take,
  tap,
  timer,
} from 'rxjs'

import type { Report } from '../events/laneEvent.js'
import type { LanePort, PromoteReply } from '../port/lanePort.js'
import { reportSetAside } from '../sources/reportSetAside.js'
import { rests } from '../sources/rests.js'

/**
 * How {@link promoteWhenDue} ticks.
 *
 * @example
 * const options: PromoteWhenDueOptions = { promoterId: 'w', intervalMs: 250, report }
 */
export interface PromoteWhenDueOptions {
  /** Who asks for the role; unique in the fleet. */
  readonly promoterId: string
  /** How often to look when nothing is known to be due sooner, in milliseconds. */
  readonly intervalMs: number
  /** Tasks moved in one step, at most. @default 250 */
  readonly batch?: number
  /** Look now: a bell told of a new earliest entry. */
  readonly poke$?: Observable<unknown>
  /** Redis can be used again: ends the rest after a fault, see {@link RestsOptions}. @default never */
  readonly wake$?: Observable<unknown> | undefined
  /** Told of what was promoted, and of faults. */
  readonly report: Report
  /** Where the pauses come from. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
  /** From 0 up to 1, so that a fleet does not look in step. @default Math.random */
  readonly random?: () => number
}

/**
 * Moves parked tasks to their lanes when they are due by the server's clock. Each step learns when the next entry is due
 * and sleeps until then, so lateness is milliseconds without looking often; a burst is moved in batches without a pause.
 * Of all that tick one has the role and is exact; the others only look whether the role has become free. A poke takes
 * the role over.
 *
 *     promote   r(64 moved, more)r(3 moved, next in 40)----- 40 -----r(1 moved, none)---- interval ----
 *     emits     r                r                                   r
 *
 * Subscribe: the first step at once.  Emits: the replies.  Completes: never.
 * Errors: never; a fault is an event and a rest.  Unsubscribe: stops ticking.
 *
 * @example
 * promoteWhenDue(port, { promoterId: 'w', intervalMs: 250, report }).subscribe()
 */
export function promoteWhenDue(port: LanePort, options: PromoteWhenDueOptions): Observable<PromoteReply> {
  const { promoterId, intervalMs, batch = 250, poke$ = NEVER, report } = options
  const { scheduler = asyncScheduler, random = Math.random } = options
  return defer(() => {
    let pauseMs = 0
    let rest$: Observable<never> | undefined
    const { next, forget } = rests({ restMs: intervalMs, wake$: options.wake$, scheduler, random })
    let isPoked = false
    // The role outlives two looks of its holder, and not many of the others'.
    const request = { promoterId, roleMs: 2 * intervalMs + 100, limit: batch }
    // A poke during a step must not be lost: the step may have looked before what the poke tells of.
    const heard$ = poke$.pipe(
      tap(() => {
        isPoked = true
      }),
      share({ resetOnComplete: false }),
    )
    const step$ = defer(() => {
      // Whoever hears the bell is idle, and so better placed than a promoter that did not hear it.
      const asked = isPoked ? { ...request, takeOver: true } : request
      isPoked = false
      rest$ = undefined
      pauseMs = intervalMs
      return port.promote(asked)
    }).pipe(
      tap((reply) => {
        forget()
        pauseMs = pauseAfter(reply, batch, intervalMs, random)
        if (reply.moved > 0) report({ kind: 'promoted', count: reply.moved })
        reportSetAside(reply, report)
      }),
      catchError((error: unknown) => {
        const { restMs } = ({ rest$ } = next())
        report({ kind: 'brokerError', activity: 'promote', error, restMs })
        return EMPTY
      }),
    )
    const pause$ = defer(() =>
      isPoked || (!rest$ && pauseMs === 0)
        ? timer(0, asapScheduler)
        : merge(rest$?.pipe(endWith(0)) ?? timer(pauseMs, scheduler), heard$).pipe(take(1)),
    )
    return merge(heard$.pipe(ignoreElements()), step$.pipe(repeat({ delay: () => pause$ })))
  })
}

const pauseAfter = (reply: PromoteReply, batch: number, intervalMs: number, random: () => number): number => {
  if (!reply.isPromoter) return Math.round(intervalMs * (1 + random()))
  if (reply.moved >= batch || reply.nextDueMs === 0) return 0
  // Nothing is parked: the bell tells of the first that is, so looking is only needed to keep the role.
  if (reply.nextDueMs === undefined) return 2 * intervalMs
  return Math.min(reply.nextDueMs, intervalMs)
}
