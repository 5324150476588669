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

/**
 * How {@link lastAnswers} waits.
 *
 * @example
 * const options: LastAnswersOptions = { limitMs: 100 }
 */
export interface LastAnswersOptions {
  /**
   * How long the server has, in milliseconds. @default 500: longer than an answer takes that is on its way, and short enough
   * to wait for one that will not come
   */
  readonly limitMs?: number
  /** Where time comes from. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
}

/**
 * Leaves a server that commands have to leave, because it is the primary or has the slot no longer. What it was asked before
 * it still answers, with a refusal most likely, which says that nothing was done; to cut that off would leave the outcome
 * unknown. It may be the one that died, and so it has half a second for it, unless it is known to live.
 *
 *     on its way    -a--b-
 *     completes     ----|       when all is answered, or its time is over; the client is closed then
 *
 * Subscribe: closes the client to new commands.  Emits: nothing.  Errors: never.  Unsubscribe: cuts it.
 *
 * @example
 * lastAnswers(client).subscribe({ complete: () => console.log('closed') })
 */
export function lastAnswers(
  client: RedisClient,
  { limitMs = 500, scheduler = asyncScheduler }: LastAnswersOptions = {},
): Observable<never> {
  return defer(() => merge(from(client.close()), timer(limitMs, scheduler))).pipe(
    take(1),
    catchError(() => EMPTY), // it was closed already
    ignoreElements(),
    finalize(() => {
      destroyClient(client)
    }),
  )
}
