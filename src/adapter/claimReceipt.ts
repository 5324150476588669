import type { ClaimBegun, ClaimedTask, ClaimLease, ClaimOutcome } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'

/** Where the slot of a claim is freed, and what its work comes to is told. */
export interface ClaimExit {
  next(outcome: ClaimOutcome): void
}

const SUCCESS: ClaimOutcome = { kind: 'success' }

/**
 * What the adapter knows of a claim while the core has it. The core passes it back unread, in `ClaimedTask.receipt`, and
 * hears from it as `ClaimedTask.lease`.
 */
export class ClaimReceipt implements ClaimLease {
  /** Whether a joint step has settled the claim already. */
  isSettled = false
  /** What the core has answered, or will, if it has not yet. */
  outcome = SUCCESS
  private controller: AbortController | undefined
  private isLost = false
  private listener: (() => void) | undefined

  constructor(
    readonly claim: Claim,
    private readonly exit: ClaimExit,
  ) {}

  /** Tells that the settlement is on its way, so that the slot is free. */
  leave(): void {
    this.exit.next(this.outcome)
  }

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
    return new ReceivedTask(this, this.claim)
  }
}

/** A class, because there is one for each task in work: see "Classes for what is in work" in docs/performance.md. */
class ReceivedTask implements ClaimedTask {
  readonly taskId: string
  readonly type: string
  readonly deliveryCount: number
  readonly redelivered: boolean
  readonly visibilityTimeoutMs: number
  readonly lease: ClaimLease
  declare readonly begun?: ClaimBegun

  constructor(
    readonly receipt: ClaimReceipt,
    { taskId, lane, deliveryCount, visibilityTimeoutMs, begun }: Claim,
  ) {
    this.taskId = taskId
    this.type = lane.type
    this.deliveryCount = deliveryCount
    this.redelivered = deliveryCount > 1
    this.visibilityTimeoutMs = visibilityTimeoutMs
    this.lease = receipt
    if (begun) this.begun = begun
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
