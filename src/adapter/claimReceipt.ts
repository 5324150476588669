import type { ClaimedTask } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'

/**
 * What the adapter knows of a claim while the core has it. The core passes it back unread, in `ClaimedTask.receipt`.
 */
export class ClaimReceipt {
  /** Whether a joint step has settled the claim already. */
  isSettled = false
  private lost: AbortController | undefined
  private isLost = false

  /** @param leave tells that the settlement is on its way, so that the slot is free */
  constructor(
    readonly claim: Claim,
    readonly leave: () => void,
  ) {}

  /** Made when somebody first asks, because most cores never do. */
  get lostSignal(): AbortSignal {
    this.lost ??= new AbortController()
    if (this.isLost) this.lost.abort()
    return this.lost.signal
  }

  markLost(): void {
    this.isLost = true
    this.lost?.abort()
  }

  toClaimedTask(): ClaimedTask {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the getter below has a `this` of its own
    const receipt = this
    const { taskId, lane, deliveryCount, visibilityTimeoutMs, begun } = this.claim
    return {
      taskId,
      type: lane.type,
      receipt,
      deliveryCount,
      redelivered: deliveryCount > 1,
      visibilityTimeoutMs,
      lease: {
        get lost() {
          return receipt.lostSignal
        },
      },
      ...(begun && { begun }),
    }
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
