import type { ClaimBegun } from '../store/begunTask.js'
import type { JointSteps } from '../store/jointSteps.js'
import type { TaskStore } from '../store/taskStore.js'
import type { ClaimOutcome } from './claimOutcome.js'

/** What a transport can do. Constant for the life of the adapter. */
export interface QueueAdapterCapabilities {
  /** The content of the queue outlives the process. */
  readonly persistent: boolean
  /** Several processes share the queue. */
  readonly distributed: boolean
  /** `notBefore` is honoured. */
  readonly delayedDispatch: boolean
  /** A cap per type holds across all workers. */
  readonly fleetCapEnforcement: boolean
  /** The adapter itself redelivers claims whose worker vanished; the core then starts no sweep of its own. */
  readonly brokerSideReclaim: boolean
}

/** One task to be dispatched. */
export interface EnqueueInput {
  taskId: string
  type: string
  handlerVersion: number
  /** Earliest dispatch; in the past or absent: at once. */
  notBefore?: Date
  /** What the worker must offer. */
  tags?: readonly string[]
}

/** One delivery of one task to one slot. `receipt` is private to the adapter. */
export interface ClaimedTask {
  readonly taskId: string
  readonly type: string
  readonly receipt: unknown
  /** How often this entry has been delivered, this time included, from 1. Optional: not every adapter knows. */
  readonly deliveryCount?: number
  /** Whether an earlier delivery of this entry ended without being settled. */
  readonly redelivered?: boolean
  /** The visibility that the broker gives this claim, in milliseconds; it is heartbeated at a third of it. */
  readonly visibilityTimeoutMs?: number
  /** Tells that the adapter lost the claim to somebody else. */
  readonly lease?: ClaimLease
  /** The attempt that the claim step began in the same step, where adapter and store share a broker. */
  readonly begun?: ClaimBegun
}

/** How a core hears that a claim went to somebody else. */
export interface ClaimLease {
  readonly lost: AbortSignal
  /**
   * The same for the one listener that a core has, without a signal, which costs more than a short task. Calls it at once
   * if the claim is lost already, and maybe after the claim's end.
   */
  onLost?(listener: () => void): void
}

/** What a worker asks of an adapter. */
export interface WorkerSubscription {
  readonly workerId: string
  /** Claims open at once, at most. */
  readonly concurrency: number
  readonly tags: readonly string[]
  readonly types: readonly string[]
  /** The versions by type that may be claimed; a missing or empty list means any. */
  readonly compatibleVersions: Readonly<Record<string, readonly number[]>>
  /** The visibility by type that the handlers declare, in milliseconds. */
  readonly visibilityTimeoutMs?: Readonly<Record<string, number>>
  /**
   * How often a task of each type may be delivered without coming to an end. A core that gives this keeps the count in
   * its rows; a claim step that begins attempts has to keep to it.
   */
  readonly maxDeliveries?: Readonly<Record<string, number>>
  /** Asked before each pull; once true, nothing further is pulled. */
  shouldDrain(): boolean
  onClaim(claim: ClaimedTask): Promise<ClaimOutcome>
}

/** Proposes `taskId` as the task behind an idempotency key. */
export interface IdempotencyLeaseInput {
  type: string
  key: string
  taskId: string
}

/**
 * The transport between whoever makes a task runnable and exactly one slot at a time.
 *
 * The first four operations are all that a core may count on; what is marked optional is used where it is present.
 *
 * @example
 * const subscription = adapter.subscribe({
 *   workerId: 'w', concurrency: 2, tags: [], types: ['mail'], compatibleVersions: { mail: [1] },
 *   shouldDrain: () => false,
 *   onClaim: async (claim) => ({ kind: 'success' }),
 * })
 * subscription[Symbol.dispose]()
 */
export interface QueueAdapter extends Disposable {
  readonly capabilities: QueueAdapterCapabilities
  /** Resolves once the entry is as durable as the adapter promises. Rejects after disposal. */
  enqueue(input: EnqueueInput): Promise<void>
  /** Starts pulling; disposing it stops the pulling, while open claims run to their end and are settled. */
  subscribe(subscription: WorkerSubscription): Disposable & Partial<AsyncDisposable>
  /** Extends the visibility of a claim that is still ours; otherwise does nothing. Never rejects for transport trouble. */
  heartbeat(claim: ClaimedTask): Promise<void>
  /** How long an idempotency key belongs to its task in any case, in seconds. @default 86_400 */
  readonly idempotencyTtlSec?: number
  /** Answers the id of the task that holds the key: the proposed one for the first proposer. */
  acquireIdempotencyLease?(input: IdempotencyLeaseInput): Promise<string>
  /**
   * For a queue that ends with its process: whether it has an entry of the task, waiting, parked or claimed. Without it
   * pending tasks may get a second entry after trouble, which does no harm but takes room.
   */
  holds?(taskId: string): boolean
  /** The steps that this adapter and that store can take as one, or nothing if they do not share a broker. */
  joint?(store: TaskStore): JointSteps | undefined
  /** Stops everything and waits until every open claim has been settled or handed back. */
  [Symbol.asyncDispose]?(): PromiseLike<void>
}
