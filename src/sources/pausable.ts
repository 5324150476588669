import { defer, filter, mergeMap, type Observable, take } from 'rxjs'

import type { ClaimSource } from './claimSource.js'

/**
 * Holds a source back while it is paused: asked meanwhile, it is asked when the pause ends. Claims that are already on
 * their way are delivered.
 *
 *     isPaused$   t----f
 *     asked       ^
 *     source           --(a|)
 *     emits       -------(a|)
 *
 * @param isPaused$ emits its present value on subscribe, as a BehaviorSubject does; if it completes while paused, nothing
 * is claimed
 *
 * @example
 * import { BehaviorSubject } from 'rxjs'
 * const isPaused$ = new BehaviorSubject(false)
 * const claims = pausable(readNew(port, { workerId: 'w', lanes: () => lanes }), isPaused$)
 */
export function pausable(source: ClaimSource, isPaused$: Observable<boolean>): ClaimSource {
  return (demand) =>
    defer(() => isPaused$).pipe(
      filter((isPaused) => !isPaused),
      take(1),
      mergeMap(() => source(demand), 1),
    )
}
