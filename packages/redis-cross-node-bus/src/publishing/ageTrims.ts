import type { SchedulerLike } from 'rxjs'
import { millisecondsOf } from '../streams/compareRedisStreamId.js'

/** How many streams are remembered; beyond that all are forgotten, and trimmed once more than necessary. */
const CAPACITY = 1_000

/**
 * Says when the next message of a stream is to trim it by age rather than by count: ten times in the span for which
 * entries are kept. The age goes by the clock of the server, as the ids of entries that it has added show it.
 */
export class AgeTrims {
  readonly #dueAt = new Map<string, number>()
  #serverAheadMs: number | undefined

  constructor(
    private readonly retentionMs: number,
    private readonly scheduler: SchedulerLike,
  ) {}

  /** An entry was added just now. */
  added(id: string): void {
    this.#serverAheadMs = millisecondsOf(id) - this.scheduler.now()
  }

  /** The id before which entries are to be dropped; `undefined` if that has time. */
  minId(key: string): string | undefined {
    const now = this.scheduler.now()
    if (this.retentionMs === Infinity || this.#serverAheadMs === undefined) return undefined
    if (now < (this.#dueAt.get(key) ?? -Infinity)) return undefined
    if (this.#dueAt.size >= CAPACITY) this.#dueAt.clear()
    this.#dueAt.set(key, now + this.retentionMs / 10)
    return String(Math.max(0, Math.floor(now + this.#serverAheadMs - this.retentionMs)))
  }
}
