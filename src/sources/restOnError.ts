import { defer, ignoreElements, NEVER, Observable, takeUntil } from 'rxjs'

import type { Report } from '../events/laneEvent.js'
import type { ClaimSource } from './claimSource.js'
import { rests, type RestsOptions } from './rests.js'

/**
 * How {@link restOnError} rests.
 *
 * @example
 * const options: RestOnErrorOptions = { report, restMs: 250, stop$ }
 */
export interface RestOnErrorOptions extends RestsOptions {
  /** Told of each fault, and of how long the rest is if nothing wakes the source. */
  readonly report: Report
  /** Cuts a rest short. */
  readonly stop$?: Observable<unknown>
}

/**
 * Makes a fault of the source an event and a rest, after which the source completes as if it had found nothing and is
 * asked afresh. Never `retry`: claims that a failed reply had already brought would then exceed the demand.
 *
 *     source  --a--#
 *     emits   --a--(rest)|
 *
 *     wake    -------x        Redis can be used again
 *     emits   --a-----|       the rest ends soon after, see {@link RestsOptions}
 *
 * @example
 * const claims = restOnError(readNew(port, { workerId: 'w', lanes: () => lanes }), { report, restMs: 250 })
 */
export function restOnError(source: ClaimSource, options: RestOnErrorOptions): ClaimSource {
  const { report, stop$ = NEVER } = options
  const { next, forget } = rests(options)
  let hasFailed = false
  const complete = (): void => {
    if (!hasFailed) return
    hasFailed = false
    forget()
  }
  const restAfter$ = (error: unknown): Observable<never> =>
    defer(() => {
      hasFailed = true
      const { restMs, rest$ } = next()
      report({ kind: 'brokerError', activity: 'claim', error, restMs })
      return rest$.pipe(takeUntil(stop$), ignoreElements())
    })
  // By hand: `catchError` took 4 % of what a worker with ten or fifty slots gets done.
  return (demand) =>
    new Observable((out) =>
      defer(() => source(demand)).subscribe({
        next: (claim) => {
          out.next(claim)
        },
        error: (error: unknown) => {
          // eslint-disable-next-line rxjs-x/no-nested-subscribe -- see above
          restAfter$(error).subscribe(out)
        },
        complete: () => {
          complete()
          out.complete()
        },
      }),
    )
}
