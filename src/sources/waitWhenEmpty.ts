import { concat, defer, EMPTY, ignoreElements, type Observable, tap } from 'rxjs'

import type { ClaimSource } from './claimSource.js'

/**
 * After a claim that brought nothing, waits before it completes, so that whoever asks again at once does not spin.
 *
 *     source  --|
 *     wait        ----x|
 *     emits   --------|       asked again, the source finds what woke it
 *
 * @param wait subscribed to after each empty claim; completes when it is worth looking again
 *
 * @example
 * const claims = waitWhenEmpty(readNew(port, options), idle(port, { lanes, blockMs: 200 }))
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
        defer(() => (isEmpty ? wait$.pipe(ignoreElements()) : EMPTY)),
      )
    })
}
