import type { UnservedChange } from '../queue/unservedChange.js'
import { laneFor, laneKeyOf, type Lane } from './lane.js'
import type { QueueEntry } from './queueEntry.js'
import type { WorkerSlots } from './workerSlots.js'

/** All lanes of one type, its workers, and the places of its cap. */
export class TypeQueue {
  /** Only those that hold entries. */
  readonly #lanes = new Map<string, Lane>()
  readonly #workers = new Set<WorkerSlots>()
  #held = 0

  constructor(
    public readonly type: string,
    private readonly cap: number,
  ) {}

  get isFull(): boolean {
    return this.#held >= this.cap
  }

  /** Nothing waits, runs or listens. */
  get isIdle(): boolean {
    return this.#lanes.size === 0 && this.#workers.size === 0 && this.#held === 0
  }

  push(entry: QueueEntry): void {
    const key = laneKeyOf(entry)
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      lane = laneFor(entry, key)
      this.#lanes.set(key, lane)
      for (const worker of this.#workers) worker.offer(this.type, lane)
    }
    lane.entries.push(entry)
  }

  /** Takes the oldest entry of a lane, and a place of the cap with it. */
  take(lane: Lane): QueueEntry | undefined {
    const entry = lane.entries.shift()
    if (entry !== undefined) this.#held++
    if (lane.entries.length === 0) {
      this.#lanes.delete(lane.key)
      for (const worker of this.#workers) worker.withdraw(this.type, lane)
    }
    return entry
  }

  /** Gives a place of the cap back. */
  release(): void {
    this.#held--
  }

  /** The lanes whose oldest entry has waited since then, or longer, and that no worker takes from. */
  unserved(limit: number): UnservedChange[] {
    return [...this.#lanes.values()].flatMap((lane) => {
      const since = lane.entries.first?.waitsSince ?? Infinity
      const isServed = [...this.#workers].some((worker) => worker.serves(this.type, lane))
      const { version: handlerVersion, tags } = lane
      return since > limit || isServed ? [] : [{ type: this.type, handlerVersion, tags, since }]
    })
  }

  join(worker: WorkerSlots): void {
    this.#workers.add(worker)
    for (const lane of this.#lanes.values()) worker.offer(this.type, lane)
  }

  leave(worker: WorkerSlots): void {
    this.#workers.delete(worker)
  }

  /** Wakes one worker that has a free slot and takes from this lane; each time another one is asked first. */
  wakeOneFor(entry: QueueEntry): void {
    for (const worker of this.#workers) {
      if (!worker.canTake(entry)) continue
      this.#workers.delete(worker)
      this.#workers.add(worker)
      return worker.wake()
    }
  }

  wakeAll(): void {
    for (const worker of this.#workers) worker.wake()
  }
}
