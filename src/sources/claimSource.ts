import type { Observable } from 'rxjs'

import type { Claim } from '../claim/claim.js'

/**
 * Where claims come from. The demand is the list of free slots, by consumer name; the result is cold and finite: it
 * claims on subscribe, at most one entry for each of the slots, emits what it got and completes. An empty result takes
 * its time (it blocks, waits or rests), because whoever asks will ask again at once.
 *
 * Sources compose as functions: {@link sweepThenRead}, {@link waitWhenEmpty}, {@link restOnError}, {@link pausable}.
 *
 * @example
 * import { ignoreElements, timer } from 'rxjs'
 * const onlyMornings: (source: ClaimSource) => ClaimSource = (source) => (demand) =>
 *   new Date().getHours() < 12 ? source(demand) : timer(60_000).pipe(ignoreElements())
 */
export type ClaimSource = (demand: readonly string[]) => Observable<Claim>
