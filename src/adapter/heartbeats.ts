import { asapScheduler, catchError, map, type Observable, of, Subject } from 'rxjs'

import type { Report } from '../events/laneEvent.js'
import type { LanePort } from '../port/lanePort.js'
import type { ClaimReceipt } from './claimReceipt.js'

/** Renews claims; those asked for in one turn share a round trip. */
export interface Heartbeats {
  /** Emits once the claim has been renewed, or could not be; completes. Never errors. */
  renew(receipt: ClaimReceipt): Observable<void>
}

/**
 * Collects renewals of a turn. A claim that turns out lost is marked, which fires its `lease.lost`.
 *
 * @example
 * const renewed$ = (receipt: ClaimReceipt) => heartbeats(port, report).renew(receipt)
 */
export const heartbeats = (port: LanePort, report: Report): Heartbeats => {
  let batch: { receipts: ClaimReceipt[]; done$: Subject<void> } | undefined

  const flush = (): void => {
    const { receipts, done$ } = batch as NonNullable<typeof batch>
    batch = undefined
    port
      .extend(receipts.map(({ claim }) => claim))
      .pipe(
        map((renewed) => {
          markLost(receipts, renewed, report)
        }),
        catchError((error: unknown) => {
          report({ kind: 'brokerError', activity: 'heartbeat', error, restMs: 0 })
          return of(undefined)
        }),
      )
      .subscribe(done$)
  }

  return {
    renew: (receipt) => {
      if (!batch) {
        batch = { receipts: [], done$: new Subject() }
        asapScheduler.schedule(flush)
      }
      batch.receipts.push(receipt)
      return batch.done$
    },
  }
}

const markLost = (receipts: readonly ClaimReceipt[], renewed: readonly boolean[], report: Report): void => {
  receipts.forEach((receipt, index) => {
    if (renewed[index] || receipt.isSettled) return
    receipt.markLost()
    report({ kind: 'leaseLost', claim: receipt.claim })
  })
}
