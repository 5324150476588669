import { concat, defer, EMPTY, tap } from 'rxjs'

import type { ClaimSource } from './claimSource.js'

/**
 * Asks one source, then passes on to another the slots that the first left free. Old claims go before new ones.
 *
 *     demand 3, sweep   --a|            a is for slot 0
 *     read, asked for slots 1 and 2        --(bc|)
 *     emits             --a----(bc|)
 *
 * @example
 * const claims = sweepThenRead(sweep.source, readNew(port, options))
 */
export function sweepThenRead(sweep: ClaimSource, read: ClaimSource): ClaimSource {
  return (demand) =>
    defer(() => {
      const taken = new Set<string>()
      return concat(
        sweep(demand).pipe(tap((claim) => taken.add(claim.slot))),
        defer(() => {
          const left = taken.size === 0 ? demand : demand.filter((slot) => !taken.has(slot))
          return left.length === 0 ? EMPTY : read(left)
        }),
      )
    })
}
