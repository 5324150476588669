import type { Observable } from 'rxjs'

/**
 * What a handler may return for a task whose result is an `R`: the result itself, a promise of it, or an Observable.
 *
 * The values of an Observable are the progress of the task while it goes on, and the last one is its result when it
 * completes (`undefined` if there was none). A value of the form `{ percent, meta? }` is reported as such; any other is
 * the `meta` of a report that keeps the percentage so far (0 at first). A run that is told to stop is unsubscribed from
 * and ends at once.
 *
 * @example
 * import { from, scan } from 'rxjs'
 * const sum: HandlerResult<number> = from([1, 2, 3]).pipe(scan((sum, n) => sum + n, 0)) // reports 1 and 3, gives 6
 */
export type HandlerResult<R> = R | PromiseLike<R | Observable<R>> | Observable<R>
