import { defer, filter, ignoreElements, mergeMap, type Observable, take } from 'rxjs'

import type { ClaimSource } from './claimSource.js'

/**
 * Holds a source back while it is paused: asked meanwhile, it claims nothing and completes when the pause ends, to be
 * asked afresh. Claims that are already on their way are delivered.
 *
 *     isPaused$   t----f
 *     asked       ^----|      nothing was claimed
 *
 * @param isPaused$ emits its present value on subscribe, as a BehaviorSubject does
 *
 * @example
 * const isPaused$ = new BehaviorSubject(false)
 * const claims = pausable(readNew(port, options), isPaused$)
 */
export function pausable(source: ClaimSource, isPaused$: Observable<boolean>): ClaimSource {
  return (demand) =>
    defer(() => isPaused$).pipe(
      take(1),
      mergeMap((isPaused) => (isPaused ? resumed(isPaused$).pipe(ignoreElements()) : source(demand)), 1),
    )
}

function resumed(isPaused$: Observable<boolean>): Observable<boolean> {
  return isPaused$.pipe(
    filter((isPaused) => !isPaused),
    take(1),
  )
}
