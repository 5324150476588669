import type { DeadLetterBox } from '../deadLetters/deadLetterBox.js'
import type { ClaimBegun } from '../store/begunTask.js'
import type { JointSteps } from '../store/jointSteps.js'
import type { TaskStore } from '../store/taskStore.js'
import type { ClaimOutcome } from './claimOutcome.js'
import type { UnservedChange } from './unservedChange.js'

/**
 * What a transport can do. Constant for the life of the adapter.
 *
 * @example
 * const needsSweep = ({ brokerSideReclaim }: QueueAdapterCapabilities): boolean => !brokerSideReclaim
 */
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

/**
 * One task to be dispatched.
 *
 * @example
 * const input: EnqueueInput = { taskId, type: 'send-mail', handlerVersion: 1, notBefore: new Date(Date.now() + 60_000) }
 * await adapter.enqueue(input)
 */
export interface EnqueueInput {
  /** The task, whose row is in the store. */
  taskId: string
  /** Selects the workers that may have it. */
  type: string
  /** The version of the handler that it asks for. */
  handlerVersion: number
  /** Earliest dispatch; in the past or absent: at once. */
  notBefore?: Date
  /** What the worker must offer. */
  tags?: readonly string[]
}

/**
 * One delivery of one task to one slot. `receipt` is private to the adapter.
 *
 * @example
 * const claim: ClaimedTask = { taskId, type: 'send-mail', receipt: '1-0', deliveryCount: 1 }
 */
export interface ClaimedTask {
  /** The task, whose row is in the store. */
  readonly taskId: string
  /** Its type. */
  readonly type: string
  /** What the adapter knows its claim by; nobody else looks into it. */
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

/**
 * How a core hears that a claim went to somebody else.
 *
 * @example
 * const lost = new AbortController()
 * const lease: ClaimLease = { lost: lost.signal }
 */
export interface ClaimLease {
  /** Fires when the claim went to somebody else. */
  readonly lost: AbortSignal
  /**
   * The same for the one listener that a core has, without a signal, which costs more than a short task. Calls it at once
   * if the claim is lost already, and maybe after the claim's end.
   */
  onLost?(listener: () => void): void
}

/**
 * What a worker asks of an adapter.
 *
 * @example
 * const subscription: WorkerSubscription = {
 *   workerId: 'w',
 *   concurrency: 2,
 *   tags: [],
 *   types: ['send-mail'],
 *   compatibleVersions: {},
 *   shouldDrain: () => false,
 *   onClaim: () => Promise.resolve({ kind: 'success' }),
 * }
 */
export interface WorkerSubscription {
  /** Who pulls. */
  readonly workerId: string
  /** Claims open at once, at most. */
  readonly concurrency: number
  /** What the worker offers. */
  readonly tags: readonly string[]
  /** What it has handlers for. */
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
  /** Called with each claim; the adapter settles it by the answer. Does not reject. */
  onClaim(claim: ClaimedTask): Promise<ClaimOutcome>
}

/**
 * Proposes `taskId` as the task behind an idempotency key.
 *
 * @example
 * const input: IdempotencyLeaseInput = { type: 'send-mail', key: 'order-7', taskId }
 * const holder = await adapter.acquireIdempotencyLease?.(input)
 */
export interface IdempotencyLeaseInput {
  /** The type of the task: keys of different types do not meet. */
  type: string
  /** The key. */
  key: string
  /** Who is to have it, if nobody has. */
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
  /** What it can do, for the core to rely on or to refuse. */
  readonly capabilities: QueueAdapterCapabilities
  /** Resolves once the entry is as durable as the adapter promises. Rejects after disposal. */
  enqueue(input: EnqueueInput): Promise<void>
  /** Starts pulling; disposing it stops the pulling, while open claims run to their end and are settled. */
  subscribe(subscription: WorkerSubscription): Disposable & Partial<AsyncDisposable>
  /** Extends the visibility of a claim that is still ours; otherwise does nothing. Never rejects for transport trouble. */
  heartbeat(claim: ClaimedTask): Promise<void>
  /**
   * Names the queue among all whose runners may share a bus: they hear only of tasks of their own. @default ''
   */
  readonly scope?: string
  /** How long an idempotency key belongs to its task in any case, in seconds. @default 86_400 */
  readonly idempotencyTtlSec?: number
  /** Answers the id of the task that holds the key: the proposed one for the first proposer. */
  acquireIdempotencyLease?(input: IdempotencyLeaseInput): Promise<string>
  /** Entries that it has set aside because they could not be read. */
  readonly deadLetters?: DeadLetterBox
  /**
   * For a queue that ends with its process: whether it has an entry of the task, waiting, parked or claimed. Without it
   * pending tasks may get a second entry after trouble, which does no harm but takes room.
   */
  holds?(taskId: string): boolean
  /**
   * Looks for tasks that have waited for `olderThanMs` and that no living worker takes. Answers what has changed since it
   * was last asked, by whichever process: each type, version and set of tags once when it begins, and once when it is over.
   */
  findUnserved?(query: { readonly olderThanMs: number }): Promise<UnservedChange[]>
  /** The steps that this adapter and that store can take as one, or nothing if they do not share a broker. */
  joint?(store: TaskStore): JointSteps | undefined
  /** Stops everything and waits until every open claim has been settled or handed back. */
  [Symbol.asyncDispose]?(): PromiseLike<void>
}
