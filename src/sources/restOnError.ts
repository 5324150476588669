import {
  asyncScheduler,
  catchError,
  defer,
  ignoreElements,
  NEVER,
  type Observable,
  type SchedulerLike,
  takeUntil,
  tap,
  timer,
} from 'rxjs'

import type { Report } from '../events/laneEvent.js'
import { backOffMs } from './backOffMs.js'
import type { ClaimSource } from './claimSource.js'

/**
 * How {@link restOnError} rests.
 *
 * @example
 * const options: RestOnErrorOptions = { report, restMs: 250, stop$ }
 */
export interface RestOnErrorOptions {
  /** Told of each fault, and of how long the rest is. */
  readonly report: Report
  /** The first rest, in milliseconds; it doubles with each failure in a row. */
  readonly restMs: number
  /** Cuts a rest short. */
  readonly stop$?: Observable<unknown>
  /** Where the rests come from. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
  /** From 0 up to 1, so that a fleet does not come back in step. @default Math.random */
  readonly random?: () => number
}

/**
 * Makes a fault of the source an event and a rest, after which the source completes as if it had found nothing and is
 * asked afresh. Never `retry`: claims that a failed reply had already brought would then exceed the demand.
 *
 *     source  --a--#
 *     emits   --a--(rest)|
 *
 * @example
 * const claims = restOnError(readNew(port, { workerId: 'w', lanes: () => lanes }), { report, restMs: 250 })
 */
export function restOnError(source: ClaimSource, options: RestOnErrorOptions): ClaimSource {
  const { report, restMs, stop$ = NEVER, scheduler = asyncScheduler, random } = options
  let failures = 0
  const forget = (): void => {
    failures = 0
  }
  return (demand) =>
    defer(() => (failures === 0 ? source(demand) : source(demand).pipe(tap({ complete: forget })))).pipe(
      catchError((error: unknown) => {
        const rest = backOffMs(restMs, failures++, random)
        report({ kind: 'brokerError', activity: 'claim', error, restMs: rest })
        return timer(rest, scheduler).pipe(takeUntil(stop$), ignoreElements())
      }),
    )
}
