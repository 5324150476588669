import { ownValue } from '../collections/ownValue.js'
import type { ClaimOutcome } from '../queue/claimOutcome.js'
import type { WorkerSubscription } from '../queue/queueAdapter.js'
import { workerSatisfiesTags } from '../queue/workerSatisfiesTags.js'
import type { Clock } from '../time/clock.js'
import type { Lane } from './lane.js'
import type { QueueEntry } from './queueEntry.js'
import type { TypeQueue } from './typeQueue.js'

/** What happens to a claim at its end; a rejection has no outcome. */
export type OnSettled = (entry: QueueEntry, outcome: ClaimOutcome | undefined) => void

/** After so many claims in one go the event loop gets its turn: timers, sockets, heartbeats. */
const CLAIMS_A_TURN = 64

/** The slots of one worker, and the lanes that it may take from. */
export class WorkerSlots {
  readonly #subscription: WorkerSubscription
  readonly #queues: readonly TypeQueue[]
  readonly #clock: Clock
  readonly #onSettled: OnSettled
  /** Lanes with entries by type, the next one first. */
  readonly #ready = new Map<string, Set<Lane>>()
  readonly #waiting: Array<() => void> = []
  #free: number
  #turn = 0
  /** Takes nothing any more: its subscription ended, or it drains. */
  #isStopped = false
  #isWoken = false
  #claimsThisTurn = 0

  constructor(subscription: WorkerSubscription, queues: readonly TypeQueue[], clock: Clock, onSettled: OnSettled) {
    this.#subscription = subscription
    this.#queues = queues
    this.#clock = clock
    this.#onSettled = onSettled
    this.#free = subscription.concurrency
    for (const { type } of queues) this.#ready.set(type, new Set())
  }

  offer(type: string, lane: Lane): void {
    if (this.#fits(type, lane.version, lane.tags)) this.#ready.get(type)?.add(lane)
  }

  withdraw(type: string, lane: Lane): void {
    this.#ready.get(type)?.delete(lane)
  }

  /** Whether it would take from a lane, if it had a free slot. */
  serves(type: string, { version, tags }: Lane): boolean {
    return !this.#isStopped && !this.#subscription.shouldDrain() && this.#fits(type, version, tags)
  }

  canTake({ type, version, tags }: QueueEntry): boolean {
    return this.#free > 0 && !this.#isStopped && !this.#subscription.shouldDrain() && this.#fits(type, version, tags)
  }

  /** Looks for entries as soon as what runs now has come to its end. */
  wake(): void {
    if (this.#isWoken || this.#isStopped || this.#free === 0) return
    this.#isWoken = true
    if (this.#claimsThisTurn < CLAIMS_A_TURN) return queueMicrotask(this.#pull)
    this.#clock.nextTurn(() => {
      this.#claimsThisTurn = 0
      this.#pull()
    })
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Resolves when no claim is open. */
  async whenIdle(): Promise<void> {
    if (this.#free === this.#subscription.concurrency) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  readonly #pull = (): void => {
    this.#isWoken = false
    while (this.#free > 0 && !this.#isStopped) {
      if (this.#subscription.shouldDrain()) {
        this.stop()
        break
      }
      if (this.#claimsThisTurn >= CLAIMS_A_TURN) return this.wake()
      if (!this.#takeNext()) return
      this.#claimsThisTurn++
    }
    this.#handOver()
  }

  /** This worker was woken, but leaves something: others may have been spared for it. */
  #handOver(): void {
    for (const queue of this.#queues) {
      if ((this.#ready.get(queue.type)?.size ?? 0) > 0 && !queue.isFull) queue.wakeAll()
    }
  }

  /** The types take turns, and so do the lanes of a type. */
  #takeNext(): boolean {
    for (let tried = 0; tried < this.#queues.length; tried++) {
      const queue = this.#queues[this.#turn++ % this.#queues.length]
      const ready = queue && this.#ready.get(queue.type)
      if (queue === undefined || ready === undefined || queue.isFull) continue
      const [lane] = ready
      if (lane === undefined) continue
      ready.delete(lane)
      ready.add(lane)
      const entry = queue.take(lane)
      if (entry === undefined) continue
      void this.#claim(entry)
      return true
    }
    return false
  }

  async #claim(entry: QueueEntry): Promise<void> {
    this.#free--
    entry.deliveries++
    const { taskId, type, deliveries } = entry
    let outcome: ClaimOutcome | undefined
    try {
      outcome = await this.#subscription.onClaim({
        taskId,
        type,
        receipt: entry,
        deliveryCount: deliveries,
        redelivered: false,
      })
    } catch {
      // A worker that cannot answer: the entry has to come back, which is what no outcome stands for.
    }
    this.#free++
    this.#onSettled(entry, outcome)
    if (this.#free === this.#subscription.concurrency) for (const resolve of this.#waiting.splice(0)) resolve()
    this.wake()
  }

  #fits(type: string, version: number, tags: readonly string[]): boolean {
    const { compatibleVersions = {}, tags: offered = [] } = this.#subscription as Partial<WorkerSubscription>
    const versions = ownValue(compatibleVersions, type) ?? []
    return (versions.length === 0 || versions.includes(version)) && workerSatisfiesTags(offered, tags)
  }
}
