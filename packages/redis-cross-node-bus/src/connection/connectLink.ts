import { reconnectDelayMs } from '@furystack/redis-connection'
import {
  defer,
  distinctUntilChanged,
  ignoreElements,
  merge,
  Observable,
  retry,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs'
import { BusOptionError } from '../busOptionError.js'
import type { LinkState } from './link.js'
import { type LinkOptions, openLink } from './openLink.js'

/** A connection that is lost sooner (milliseconds) is one more failure: the next attempt does not follow at once. */
const SETTLED_AFTER_MS = 1_000

/**
 * A connection that is replaced whenever it is lost, for ever.
 *
 *     ^--u-----d----u--   lost, and opened again after some attempts
 *     ^--#                the server is none that could ever be used
 *
 * Subscribe: connects.  Emits: each change, once.  Completes: never.  Errors: with a {@link BusOptionError}.
 * Unsubscribe: cuts the connection.
 */
export function connectLink(options: LinkOptions): Observable<LinkState> {
  const { scheduler, server } = options
  const moved$ = new Observable<void>((out) => server.onMoved(() => out.next()))
  // The other connection has got through.
  const reached$ = new Observable<void>((out) => server.onReached(() => out.next()))
  return defer(() => {
    let failures = 0
    let readyAt = Infinity
    // What has failed on the way to the former server does not count any more, nor is there anything to wait for.
    const forgetting$ = moved$.pipe(
      tap(() => {
        failures = 0
      }),
      ignoreElements(),
    )
    const links$ = openLink(options).pipe(
      tap(({ link }) => {
        if (link) readyAt = scheduler.now()
      }),
      retry({
        delay: (error) => {
          if (error instanceof BusOptionError) return throwError(() => error)
          if (scheduler.now() - readyAt >= SETTLED_AFTER_MS) failures = 0
          readyAt = Infinity
          return merge(timer(reconnectDelayMs(failures++), scheduler), moved$, reached$).pipe(take(1))
        },
      }),
      distinctUntilChanged((before, now) => before.link === now.link),
    )
    return merge(forgetting$, links$)
  })
}
