import { checkNumber } from '../argument/checkNumber.js'
import { quoted } from '../argument/printable.js'
import { DueQueue } from '../collections/dueQueue.js'
import { ownValue } from '../collections/ownValue.js'
import { RunnerDisposedError } from '../errors/runnerDisposedError.js'
import { checkQueueInput } from '../queue/checkQueueInput.js'
import type { ClaimOutcome } from '../queue/claimOutcome.js'
import { IdempotencyLeases } from '../queue/idempotencyLeases.js'
import type {
  EnqueueInput,
  IdempotencyLeaseInput,
  QueueAdapter,
  QueueAdapterCapabilities,
  WorkerSubscription,
} from '../queue/queueAdapter.js'
import type { UnservedChange } from '../queue/unservedChange.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/systemClock.js'
import type { InProcessQueueAdapterOptions } from './inProcessQueueAdapterOptions.js'
import type { QueueEntry } from './queueEntry.js'
import { TypeQueue } from './typeQueue.js'
import { UnservedLanes } from './unservedLanes.js'
import { WorkerSlots } from './workerSlots.js'

const CAPABILITIES: QueueAdapterCapabilities = Object.freeze({
  persistent: false,
  distributed: false,
  delayedDispatch: true,
  fleetCapEnforcement: true,
  brokerSideReclaim: false,
})

const FIRST_REJECTION_MS = 250
const MAX_REJECTION_MS = 30_000

/** Half to one and a half of a pause that doubles with each rejection, so that entries do not come back together. */
const pauseAfter = (rejections: number, clock: Clock): number =>
  Math.min(MAX_REJECTION_MS, FIRST_REJECTION_MS * 2 ** (rejections - 1)) * (0.5 + clock.random())

/**
 * A queue in the memory of this process. Types, and within them versions and sets of tags, take turns; each of those
 * lanes is first in, first out. What a worker cannot take is not shown to it.
 *
 * @example
 * const queueAdapter = new InProcessQueueAdapter({ concurrencyLimits: { 'send-mail': 2 } })
 */
export class InProcessQueueAdapter implements QueueAdapter, AsyncDisposable {
  /** It ends with its process, and can do all else. */
  public readonly capabilities = CAPABILITIES
  public readonly idempotencyTtlSec: number
  readonly #clock: Clock
  readonly #limits: Readonly<Record<string, number>>
  readonly #leases: IdempotencyLeases
  readonly #types = new Map<string, TypeQueue>()
  readonly #parked = new DueQueue<symbol, QueueEntry>()
  /** How many entries of a task there are, waiting, parked or claimed. */
  readonly #held = new Map<string, number>()
  readonly #workers = new Set<WorkerSlots>()
  readonly #unserved = new UnservedLanes()
  #cancelTimer: (() => void) | undefined
  #timerDue = Infinity
  #isDisposed = false

  constructor({
    concurrencyLimits = {},
    idempotencyTtlSec = 86_400,
    clock = systemClock,
  }: InProcessQueueAdapterOptions = {}) {
    for (const [type, limit] of Object.entries(concurrencyLimits)) {
      checkNumber(`concurrencyLimits[${quoted(type)}]`, limit, { min: 1, integer: true })
    }
    this.#clock = clock
    this.#limits = { ...concurrencyLimits }
    this.idempotencyTtlSec = checkNumber('idempotencyTtlSec', idempotencyTtlSec, { min: 0, infinity: 'for ever' })
    this.#leases = new IdempotencyLeases(this.idempotencyTtlSec * 1_000, clock)
  }

  public enqueue(input: EnqueueInput): Promise<void> {
    return this.#step(() => {
      const { taskId, type, handlerVersion, notBefore, tags } = checkQueueInput.enqueue(input)
      this.#held.set(taskId, (this.#held.get(taskId) ?? 0) + 1)
      this.#add({ taskId, type, version: handlerVersion, tags, waitsSince: 0, deliveries: 0, rejections: 0 }, notBefore)
    })
  }

  public holds(taskId: string): boolean {
    return this.#held.has(taskId)
  }

  public subscribe(subscription: WorkerSubscription): Disposable & AsyncDisposable {
    this.#assertUsable()
    checkQueueInput.subscribe(subscription)
    const queues = [...new Set(subscription.types)].map((type) => this.#queueOf(type))
    const worker = new WorkerSlots(subscription, queues, this.#clock, (entry, outcome) => this.#settle(entry, outcome))
    this.#workers.add(worker)
    for (const queue of queues) queue.join(worker)
    worker.wake()
    const stop = (): void => {
      worker.stop()
      for (const queue of queues) this.#leave(queue, worker)
      void worker.whenIdle().then(() => this.#workers.delete(worker))
    }
    return {
      [Symbol.dispose]: stop,
      [Symbol.asyncDispose]: () => {
        stop()
        return worker.whenIdle()
      },
    }
  }

  /** There is nothing to extend: what is claimed here is claimed by this process. */
  public heartbeat(): Promise<void> {
    return Promise.resolve()
  }

  public acquireIdempotencyLease(input: IdempotencyLeaseInput): Promise<string> {
    return this.#step(() => {
      checkQueueInput.lease(input)
      return this.#leases.acquire(input.type, input.key, input.taskId)
    })
  }

  public findUnserved({ olderThanMs }: { readonly olderThanMs: number }): Promise<UnservedChange[]> {
    return this.#step(() => {
      const limit = this.#clock.now() - olderThanMs
      const found = [...this.#types.values()].flatMap((queue) => queue.unserved(limit))
      return this.#unserved.changesTo(found)
    })
  }

  /** Stops pulling and drops what is queued; open claims run to their end. */
  public [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#cancelTimer?.()
    this.#parked.clear()
    this.#held.clear()
    for (const worker of this.#workers) worker.stop()
  }

  /** Also waits until every open claim has been answered. */
  public async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]()
    await Promise.all([...this.#workers].map((worker) => worker.whenIdle()))
  }

  #assertUsable(): void {
    if (this.#isDisposed) throw new RunnerDisposedError('in-process queue')
  }

  /** Is taken at once; what it throws becomes a rejection. */
  #step<T>(step: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.#assertUsable()
      resolve(step())
    })
  }

  #queueOf(type: string): TypeQueue {
    const present = this.#types.get(type)
    if (present !== undefined) return present
    const queue = new TypeQueue(type, ownValue(this.#limits, type) ?? Infinity)
    this.#types.set(type, queue)
    return queue
  }

  #leave(queue: TypeQueue, worker: WorkerSlots): void {
    queue.leave(worker)
    this.#forgetIfIdle(queue)
  }

  #forgetIfIdle(queue: TypeQueue): void {
    if (queue.isIdle && this.#types.get(queue.type) === queue) this.#types.delete(queue.type)
  }

  #add(entry: QueueEntry, notBefore: Date | undefined): void {
    const due = notBefore?.getTime() ?? 0
    if (due > this.#clock.now()) return this.#park(entry, due)
    const queue = this.#queueOf(entry.type)
    entry.waitsSince = this.#clock.now()
    queue.push(entry)
    queue.wakeOneFor(entry)
  }

  #park(entry: QueueEntry, due: number): void {
    this.#parked.set(Symbol(), entry, due)
    if (due < this.#timerDue) this.#armFor(due)
  }

  #armFor(due: number): void {
    this.#cancelTimer?.()
    this.#timerDue = due
    this.#cancelTimer = this.#clock.setTimer(this.#promote, Math.max(1, due - this.#clock.now()))
  }

  readonly #promote = (): void => {
    this.#timerDue = Infinity
    const now = this.#clock.now()
    for (let entry = this.#parked.takeDue(now); entry !== undefined; entry = this.#parked.takeDue(now)) {
      this.#add(entry, undefined)
    }
    const { nextDue } = this.#parked
    if (nextDue !== undefined) this.#armFor(nextDue)
  }

  #letGo({ taskId }: QueueEntry): void {
    const others = (this.#held.get(taskId) ?? 1) - 1
    if (others > 0) this.#held.set(taskId, others)
    else this.#held.delete(taskId)
  }

  #settle(entry: QueueEntry, outcome: ClaimOutcome | undefined): void {
    const queue = this.#queueOf(entry.type)
    const wasFull = queue.isFull
    queue.release()
    if (!this.#isDisposed) {
      if (outcome === undefined) {
        entry.rejections++
        this.#park(entry, this.#clock.now() + pauseAfter(entry.rejections, this.#clock))
      } else if (outcome.kind === 'requeue') {
        entry.rejections = 0
        this.#add(entry, outcome.notBefore)
      } else this.#letGo(entry)
    }
    if (wasFull) queue.wakeAll()
    this.#forgetIfIdle(queue)
  }
}
