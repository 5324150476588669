import { concat, defer, EMPTY, tap } from 'rxjs'

import type { ClaimSource } from './claimSource.js'

/**
 * Asks one source, then passes on to another the slots that the first left free. Old claims go before new ones.
 *
 *     demand 3, sweep   --a|            a is for slot 0
 *     read, asked for slots 1 and 2        --(bc|)
 *     emits             --a----(bc|)
 *
 * @param isEarly whether the first has nothing to do yet, so that only the second is asked; asked at each subscription
 *
 * @example
 * const options = { workerId: 'w', lanes: () => lanes }
 * const sweep = sweepStale(port, options)
 * const claims = sweepThenRead(sweep.source, readNew(port, options), () => sweep.dueInMs() > 0)
 */
export function sweepThenRead(sweep: ClaimSource, read: ClaimSource, isEarly = (): boolean => false): ClaimSource {
  return (demand) =>
    defer(() => {
      if (isEarly()) return read(demand)
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
