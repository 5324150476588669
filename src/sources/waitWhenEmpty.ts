import { defer, Observable, tap } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { ClaimSource } from './claimSource.js'

/**
 * After a claim that brought nothing, asks another source, which waits. So an empty result takes its time, and whoever asks
 * again at once does not spin.
 *
 *     demand 2, source                --|
 *     wait, asked for the same two      ----(ab|)
 *     emits                           ------(ab|)
 *
 * @param wait asked with the same demand after an empty claim; it may claim too, as {@link readWhenCalled} does
 * @param isEarly whether the source has nothing to do yet after a wait that brought nothing, so that only the wait is asked
 * again; asked at each subscription
 *
 * @example
 * const options = { workerId: 'w', lanes: () => lanes }
 * const claims = waitWhenEmpty(readNew(port, options), readWhenCalled(port, { ...options, waitMs: () => 1_000 }))
 */
export function waitWhenEmpty(source: ClaimSource, wait: ClaimSource, isEarly = (): boolean => false): ClaimSource {
  let hasWaitedInVain = false
  const waiting: ClaimSource = (demand) =>
    defer(() => {
      let isEmpty = true
      hasWaitedInVain = false
      return wait(demand).pipe(
        tap({
          next: () => {
            isEmpty = false
          },
          complete: () => {
            hasWaitedInVain = isEmpty
          },
        }),
      )
    })
  return (demand) =>
    new Observable((out) => {
      if (hasWaitedInVain && isEarly()) return waiting(demand).subscribe(out)
      let isEmpty = true
      return source(demand).subscribe({
        next: (claim: Claim) => {
          isEmpty = false
          out.next(claim)
        },
        error: (error: unknown) => {
          out.error(error)
        },
        complete: () => {
          if (!isEmpty) out.complete()
          // eslint-disable-next-line rxjs-x/no-nested-subscribe -- a `concat` around it all would be made for each claim
          else waiting(demand).subscribe(out)
        },
      })
    })
}
