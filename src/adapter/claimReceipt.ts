import type { ClaimedTask, ClaimLease } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'

/**
 * What the adapter knows of a claim while the core has it. The core passes it back unread, in `ClaimedTask.receipt`, and
 * hears from it as `ClaimedTask.lease`.
 */
export class ClaimReceipt implements ClaimLease {
  /** Whether a joint step has settled the claim already. */
  isSettled = false
  private controller: AbortController | undefined
  private isLost = false
  private listener: (() => void) | undefined

  /** @param leave tells that the settlement is on its way, so that the slot is free */
  constructor(
    readonly claim: Claim,
    readonly leave: () => void,
  ) {}

  /** Made when somebody first asks, because most cores never do. */
  get lost(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.isLost) this.controller.abort()
    return this.controller.signal
  }

  onLost(listener: () => void): void {
    this.listener = listener
    if (this.isLost) listener()
  }

  markLost(): void {
    if (this.isLost) return
    this.isLost = true
    this.controller?.abort()
    this.listener?.()
  }

  toClaimedTask(): ClaimedTask {
    const { taskId, lane, deliveryCount, visibilityTimeoutMs, begun } = this.claim
    const { type } = lane
    const redelivered = deliveryCount > 1
    return begun
      ? { taskId, type, deliveryCount, redelivered, visibilityTimeoutMs, receipt: this, lease: this, begun }
      : { taskId, type, deliveryCount, redelivered, visibilityTimeoutMs, receipt: this, lease: this }
  }
}

/**
 * The receipt of a claim that came from this adapter; anything else is misuse.
 *
 * @throws {TypeError} for a claim of another adapter
 */
export const receiptOf = (claim: ClaimedTask): ClaimReceipt => {
  if (claim.receipt instanceof ClaimReceipt) return claim.receipt
  throw new TypeError(`the claim of task ${claim.taskId} does not come from this adapter`)
}
