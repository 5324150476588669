import { defer, distinctUntilChanged, type Observable, retry, tap, timer } from 'rxjs'
import type { LinkState } from './link.js'
import { type LinkOptions, openLink } from './openLink.js'
import { reconnectDelayMs } from './reconnectDelayMs.js'

/**
 * A connection that is replaced whenever it is lost, for ever.
 *
 *     ^--u-----d----u--   lost, and opened again after some attempts
 *
 * Subscribe: connects.  Emits: each change, once.  Completes, errors: never.  Unsubscribe: cuts the connection.
 */
export function connectLink(options: LinkOptions): Observable<LinkState> {
  return defer(() => {
    let failures = 0
    return openLink(options).pipe(
      tap(({ link }) => {
        if (link) failures = 0
      }),
      retry({ delay: () => timer(reconnectDelayMs(failures++), options.scheduler) }),
      distinctUntilChanged((before, now) => before.link === now.link),
    )
  })
}
