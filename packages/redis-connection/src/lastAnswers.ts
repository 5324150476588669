import {
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  finalize,
  from,
  ignoreElements,
  merge,
  type Observable,
  type SchedulerLike,
  take,
  timer,
} from 'rxjs'

import { destroyClient } from './destroyClient.js'
import type { RedisClient } from './redisClient.js'

/** Longer than an answer takes that is on its way, and short enough to wait for one that will not come. */
const LIMIT_MS = 500

/**
 * Leaves a server that commands have to leave, because it is the primary or has the slot no longer. What it was asked before
 * it still answers, with a refusal most likely, which says that nothing was done; to cut that off would leave the outcome
 * unknown. It has half a second for it: it may be the one that died.
 *
 *     on its way    -a--b-
 *     completes     ----|       when all is answered, or half a second is over; the client is closed then
 *
 * Subscribe: closes the client to new commands.  Emits: nothing.  Errors: never.  Unsubscribe: cuts it.
 *
 * @example
 * lastAnswers(client).subscribe({ complete: () => console.log('closed') })
 */
export function lastAnswers(client: RedisClient, scheduler: SchedulerLike = asyncScheduler): Observable<never> {
  return defer(() => merge(from(client.close()), timer(LIMIT_MS, scheduler))).pipe(
    take(1),
    catchError(() => EMPTY), // it was closed already
    ignoreElements(),
    finalize(() => {
      destroyClient(client)
    }),
  )
}
