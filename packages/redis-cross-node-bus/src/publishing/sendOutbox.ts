import { reconnectDelayMs } from '@furystack/redis-connection'
import {
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  interval,
  type Observable,
  repeat,
  switchMap,
  tap,
  timer,
} from 'rxjs'
import type { SchedulerLike } from 'rxjs'
import { endOfTurn$ } from '../connection/endOfTurn.js'
import type { Outbox } from './outbox.js'
import { sendBatch, type SendContext } from './sendBatch.js'

/** The topic under which trouble with publishing that concerns all topics is reported. */
export const PUBLISHING = '<publishing>'

/**
 * Sends what is in the outbox, one write after the other: all of one turn of the event loop together, and what comes
 * while a write is on its way together with the next. So each topic keeps its order, whatever the server refuses.
 *
 * Subscribe: sends what waits.  Emits: nothing.  Completes, errors: never; each message has an end of its own.
 * Unsubscribe: what is on its way still finds its end.
 */
export function sendOutbox(context: SendContext): Observable<never> {
  const { outbox, reporter, scheduler } = context
  return defer(() => {
    let refusals = 0

    /** Rests if the server takes no messages at the moment. If it will take none, the link sees that by itself, and ends. */
    const settle = (refusal: unknown): Observable<unknown> => {
      if (refusal === undefined) {
        refusals = 0
        return EMPTY
      }
      if (refusals === 0) reporter.interrupted(PUBLISHING, 'publish', refusal)
      outbox.expire()
      return timer(reconnectDelayMs(refusals++), scheduler)
    }

    return outbox.filled$.pipe(
      switchMap(() => endOfTurn$),
      concatMap(() => from(sendBatch(context))),
      concatMap(settle),
      repeat(),
      ignoreElements(),
    )
  })
}

/** Gives up what waits for too long while there is no connection. */
export function expireOutbox(outbox: Outbox, maxAgeMs: number, scheduler: SchedulerLike): Observable<never> {
  return interval(Math.min(1_000, maxAgeMs / 4), scheduler).pipe(
    tap(() => outbox.expire()),
    ignoreElements(),
  )
}
