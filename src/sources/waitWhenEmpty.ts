import { concat, defer, ignoreElements, Observable } from 'rxjs'

import type { ClaimSource } from './claimSource.js'

/**
 * After a claim that brought nothing, waits, and then asks once more. So an empty result takes its time, and whoever asks
 * again at once does not spin.
 *
 *     source  --|      --(a|)
 *     wait        ----x|
 *     emits   ----------(a|)
 *
 * @param wait$ subscribed to after an empty claim; completes when it is worth looking again
 *
 * @example
 * const wait$ = idle(port, { lanes: () => lanes, blockMs: 200, lookAgainMs: () => 1000 })
 * const claims = waitWhenEmpty(readNew(port, { workerId: 'w', lanes: () => lanes }), wait$)
 */
export function waitWhenEmpty(source: ClaimSource, wait$: Observable<unknown>): ClaimSource {
  return (demand) =>
    new Observable((out) => {
      let isEmpty = true
      return source(demand).subscribe({
        next: (claim) => {
          isEmpty = false
          out.next(claim)
        },
        error: (error: unknown) => {
          out.error(error)
        },
        complete: () => {
          if (!isEmpty) {
            out.complete()
            return
          }
          const waitThenAsk$ = concat(
            wait$.pipe(ignoreElements()),
            defer(() => source(demand)),
          )
          // eslint-disable-next-line rxjs-x/no-nested-subscribe -- a `concat` around it all would be made for each claim
          waitThenAsk$.subscribe(out)
        },
      })
    })
}
