import { concat, defer, EMPTY, ignoreElements, type Observable, tap } from 'rxjs'

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
 * const claims = waitWhenEmpty(readNew(port, options), idle(port, { lanes, blockMs: 200, lookAgainMs: () => 1000 }))
 */
export function waitWhenEmpty(source: ClaimSource, wait$: Observable<unknown>): ClaimSource {
  return (demand) =>
    defer(() => {
      let isEmpty = true
      return concat(
        source(demand).pipe(
          tap(() => {
            isEmpty = false
          }),
        ),
        defer(() =>
          isEmpty
            ? concat(
                wait$.pipe(ignoreElements()),
                defer(() => source(demand)),
              )
            : EMPTY,
        ),
      )
    })
}
