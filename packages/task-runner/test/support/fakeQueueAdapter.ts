import type {
  ClaimedTask,
  ClaimOutcome,
  EnqueueInput,
  QueueAdapter,
  QueueAdapterCapabilities,
  WorkerSubscription,
} from '../../src/index.js'

const CAPABILITIES: QueueAdapterCapabilities = {
  persistent: true,
  distributed: false,
  delayedDispatch: true,
  fleetCapEnforcement: false,
  brokerSideReclaim: true,
}

/** A queue that does nothing by itself: the test delivers what it likes, and sees what the core asked for. */
export class FakeQueueAdapter implements QueueAdapter {
  readonly capabilities: QueueAdapterCapabilities
  readonly enqueued: EnqueueInput[] = []
  readonly heartbeats: ClaimedTask[] = []
  readonly subscriptions: WorkerSubscription[] = []
  /** What the next calls of `enqueue` reject with, one each. */
  readonly refusals: Error[] = []
  disposals = 0
  acquireIdempotencyLease?: NonNullable<QueueAdapter['acquireIdempotencyLease']>
  joint?: NonNullable<QueueAdapter['joint']>

  constructor(capabilities: Partial<QueueAdapterCapabilities> = {}) {
    this.capabilities = { ...CAPABILITIES, ...capabilities }
  }

  enqueue(input: EnqueueInput): Promise<void> {
    const refusal = this.refusals.shift()
    if (refusal !== undefined) return Promise.reject(refusal)
    this.enqueued.push(input)
    return Promise.resolve()
  }

  subscribe(subscription: WorkerSubscription): Disposable {
    this.subscriptions.push(subscription)
    return { [Symbol.dispose]: () => void this.disposals++ }
  }

  heartbeat(claim: ClaimedTask): Promise<void> {
    this.heartbeats.push(claim)
    return Promise.resolve()
  }

  /** Delivers a task to a worker, by default the first one. */
  deliver(taskId: string, more: Partial<ClaimedTask> = {}, worker = 0): Promise<ClaimOutcome> {
    const subscription = this.subscriptions[worker]
    if (subscription === undefined) throw new Error('no worker has subscribed')
    return subscription.onClaim({ taskId, type: 'mail', receipt: {}, ...more })
  }

  [Symbol.dispose](): void {
    // There is nothing to stop.
  }
}
