import type { ClaimedTask, ClaimOutcome } from '@furystack/task-runner'
import {
  asyncScheduler,
  catchError,
  EMPTY,
  endWith,
  Observable,
  retry,
  type SchedulerLike,
  type Subscriber,
  tap,
  throwError,
} from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Report } from '../events/laneEvent.js'
import type { LanePort, Settlement } from '../port/lanePort.js'
import { backOffMs } from '../sources/backOffMs.js'
import { rests } from '../sources/rests.js'
import { ClaimReceipt } from './claimReceipt.js'

/** What {@link runClaim} needs beyond the claim. */
export interface RunClaimOptions {
  readonly port: LanePort
  readonly onClaim: (claim: ClaimedTask) => Promise<ClaimOutcome>
  /** Whether this worker stops: what it puts back must not wait. */
  readonly isStopping: () => boolean
  readonly retryBackoffMs: number
  /** How long a worker that stops goes on trying to settle, in milliseconds. */
  readonly deadlineMs: number
  readonly report: Report
  /** Redis can be used again: a settlement that rests is sent again. */
  readonly wake$?: Observable<unknown> | undefined
  readonly scheduler?: SchedulerLike
}

/**
 * The work on one claim: hands it to the core, and settles it by what the core answers, unless a joint step did.
 *
 *     onClaim   -----outcome
 *     settle         ----|
 *     emits     -----o---|      the slot is free from `o` on: the settlement has been sent
 *
 * Errors: never. A core that rejects has its claim put back, after a rest that grows with its rejections in a row. A
 * settlement that fails is tried again until the claim's visibility ends; after that recovery has it.
 * Unsubscribe: the core goes on, and its answer is still settled.
 */
export function runClaim(options: RunClaimOptions): (claim: Claim) => Observable<ClaimOutcome> {
  let rejections = 0
  const { onClaim, retryBackoffMs, report } = options

  const settlementOf = (outcome: ClaimOutcome): Settlement => {
    if (outcome.kind !== 'requeue') return { kind: 'done' }
    if (outcome.notBefore) return { kind: 'requeue', notBefore: outcome.notBefore.getTime() }
    // Put back at once, a task that no worker may take would circle at full speed.
    return { kind: 'requeue', delayMs: options.isStopping() ? 0 : retryBackoffMs }
  }

  const finish = (out: Subscriber<ClaimOutcome>, receipt: ClaimReceipt, settlement: Settlement): void => {
    // Not tied to `out`: an outcome is settled even if nobody waits for it any more.
    settle(options, receipt, settlement).subscribe({
      error: (error: unknown) => {
        out.error(error)
      },
      complete: () => {
        out.complete()
      },
    })
    out.next(receipt.outcome)
  }

  return (claim) =>
    new Observable((out) => {
      report({ kind: claim.deliveryCount > 1 ? 'reclaimed' : 'claimed', claim })
      if (claim.begun?.kind === 'failed') {
        const reason = claim.begun.stored.deadReason ?? 'failed'
        report({ kind: 'deadLettered', id: claim.taskId, lane: claim.lane.name, reason })
      }
      const receipt = new ClaimReceipt(claim, out)
      onClaim(receipt.toClaimedTask()).then(
        (outcome) => {
          rejections = 0
          receipt.outcome = outcome
          if (receipt.isSettled) end(out, outcome)
          else finish(out, receipt, settlementOf(outcome))
        },
        (error: unknown) => {
          receipt.outcome = { kind: 'requeue' }
          const delayMs = options.isStopping() ? 0 : backOffMs(retryBackoffMs, rejections++)
          report({ kind: 'brokerError', activity: 'onClaim', error, restMs: delayMs })
          if (receipt.isSettled) end(out, receipt.outcome)
          else finish(out, receipt, { kind: 'requeue', delayMs })
        },
      )
    })
}

function end(out: Subscriber<ClaimOutcome>, outcome: ClaimOutcome): void {
  out.next(outcome)
  out.complete()
}

function settle(options: RunClaimOptions, receipt: ClaimReceipt, settlement: Settlement): Observable<unknown> {
  const { port, retryBackoffMs, report, scheduler = asyncScheduler } = options
  const { claim } = receipt
  const { next } = rests({ restMs: retryBackoffMs, wake$: options.wake$, scheduler })
  const sentAt = scheduler.now()
  const giveUpAt = sentAt + claim.visibilityTimeoutMs
  return port.settle(claim, settlement).pipe(
    retry({
      delay: (error: unknown) => {
        const { restMs, rest$ } = next()
        const limit = options.isStopping() ? Math.min(giveUpAt, sentAt + options.deadlineMs) : giveUpAt
        if (scheduler.now() + restMs > limit) return throwError(() => new Error('given up', { cause: error }))
        report({ kind: 'brokerError', activity: 'settle', error, restMs })
        return rest$.pipe(endWith(0))
      },
    }),
    tap((reply) => {
      if (reply === 'lost') report({ kind: 'leaseLost', claim })
      else report(settlement.kind === 'done' ? { kind: 'settled', claim } : { kind: 'requeued', claim, settlement })
    }),
    catchError((error: unknown) => {
      report({ kind: 'brokerError', activity: 'settle', error, restMs: 0 })
      return EMPTY
    }),
  )
}
