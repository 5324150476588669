import { Observable } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Report } from '../events/laneEvent.js'
import type { LanePort } from '../port/lanePort.js'

/**
 * Turns the reply of a claiming operation into claims, and loses none of them: what nobody listens for any more when the
 * reply arrives is handed back.
 *
 *     reply      --r|        r brings a and b
 *     emits      --(ab|)
 *     unsub      -!          nothing is emitted; a and b are handed back when r arrives
 *
 * Unsubscribe: the operation goes on, because its claims are ours once Redis has answered; unless `handsBack` says that it
 * sees to that by itself, as `listen` does.
 *
 * @param report told of what was handed back, or could not be: then the claims are recovered when their visibility ends
 * @param onReply given the reply before its claims are delivered
 */
export function deliverClaims<Reply extends { readonly claims: readonly Claim[] }>(
  port: LanePort,
  reply$: Observable<Reply>,
  report?: Report,
  onReply?: (reply: Reply) => void,
  handsBack = false,
): Observable<Claim> {
  return new Observable((out) => {
    const asked = reply$.subscribe({
      next: (reply) => {
        try {
          onReply?.(reply)
        } catch (error: unknown) {
          out.error(error)
          return
        }
        const { claims } = reply
        const undelivered: Claim[] = []
        for (const claim of claims) {
          if (out.closed) undelivered.push(claim)
          else out.next(claim)
        }
        if (undelivered.length > 0) {
          // eslint-disable-next-line rxjs-x/no-nested-subscribe -- the listener is gone, so there is nothing to chain it to
          port.handBack(undelivered).subscribe({
            error: (error: unknown) => {
              report?.({ kind: 'brokerError', activity: 'handBack', error, restMs: 0 })
            },
            complete: () => {
              report?.({ kind: 'handedBack', claims: undelivered })
            },
          })
        }
      },
      error: (error: unknown) => {
        out.error(error)
      },
      complete: () => {
        out.complete()
      },
    })
    // Otherwise deliberately not tied to `out`: see above.
    if (handsBack) out.add(asked)
  })
}
