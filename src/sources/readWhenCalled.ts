import {
  asyncScheduler,
  catchError,
  defer,
  ignoreElements,
  merge,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs'

import type { Bell, LanePort } from '../port/lanePort.js'
import type { ClaimSource } from './claimSource.js'
import { deliverClaims } from './deliverClaims.js'
import type { ReadNewOptions } from './readNew.js'
import { reportReading } from './reportReading.js'

/** How long a wait may take to end once it was told to, in milliseconds. It takes one round trip, if all is well. */
const CUT_MS = 500

/**
 * How {@link readWhenCalled} waits and reads.
 *
 * @example
 * const options: ReadWhenCalledOptions = { workerId: 'w', lanes: () => lanes, waitMs: () => 1_000 }
 */
export interface ReadWhenCalledOptions extends ReadNewOptions {
  /** How long to wait at most, in milliseconds; asked before each wait, and at least 1. */
  readonly waitMs: () => number
  /** Whether to listen for the schedule's bell too. @default never */
  readonly schedule?: () => boolean
  /** Told of the bell that has ended a wait. @default nobody */
  readonly onBell?: (bell: Bell) => void
  /** Ends a wait: what it claims in that moment is delivered still. @default never */
  readonly stop$?: Observable<unknown>
  /** Its clock. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
}

/**
 * Waits until a bell rings, and claims in the same round trip. It claims too when nothing has rung in its time: what could
 * not be claimed before, as its lane was paused for example, may be there now.
 *
 *     listen   ---(r|)          r brings a, and the bell that rang
 *     emits    ---(a|)
 *
 *     listen   1000ms (r|)      nothing has rung, and there is nothing
 *     emits    1000ms |
 *
 *     stop$    --x
 *     wake     --(v|)           the worker's own bell
 *     listen   ----(r|)         rung by that, at the same time as a was enqueued
 *     emits    ----(a|)         without an answer within 500 ms, or if the worker cannot be woken: |
 *
 * Subscribe: one round trip, which lasts.  Emits: claims.  Completes: after the reply.
 * Errors: {@link LaneError}.  Unsubscribe: stops waiting; the port hands back what is claimed afterwards.
 * Scheduler: its clock.  Buffers: nothing.
 *
 * @example
 * const options = { workerId: 'w', lanes: () => lanes }
 * const claims = waitWhenEmpty(readNew(port, options), readWhenCalled(port, { ...options, waitMs: () => 1_000 }))
 */
export function readWhenCalled(port: LanePort, options: ReadWhenCalledOptions): ClaimSource {
  const { workerId, lanes, waitMs, schedule = () => false, onBell, onReply, report } = options
  const { stop$ = NEVER, scheduler = asyncScheduler } = options
  const woken$ = defer(() => port.wake(workerId)).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      report?.({ kind: 'brokerError', activity: 'wake', error, restMs: 0 })
      return of('in vain')
    }),
  )
  // The end by its own reply is the better one: a wait that is cut may claim in that very moment.
  const cut$ = stop$.pipe(
    take(1),
    switchMap(() => merge(woken$, timer(CUT_MS, scheduler))),
  )
  return (slots) =>
    defer(() => {
      const blockMs = Math.max(1, Math.ceil(waitMs()))
      const reply$ = port.listen({ workerId, slots, lanes: lanes(), schedule: schedule(), blockMs })
      return deliverClaims(
        port,
        reply$,
        report,
        (reply) => {
          if (reply.bell !== undefined) onBell?.(reply.bell)
          onReply?.(reply)
          reportReading(reply, report)
        },
        true,
      )
    }).pipe(takeUntil(cut$))
}
