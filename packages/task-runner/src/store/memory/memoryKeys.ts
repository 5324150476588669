import { isTerminalStatus } from '../../task/taskStatus.js'
import type { MemoryRow } from './memoryRow.js'
import type { MemoryRows } from './memoryRows.js'

interface Holder {
  readonly taskId: string
  /** Until then the key is held in any case; epoch milliseconds. */
  readonly until: number
}

/** So many keys are looked at for each that is taken, so that those which nobody asks for any more go as well. */
const PURGED_AT_ONCE = 2

/** Which task an idempotency key of a type belongs to: the last one that took it, until its end and for its time. */
export class MemoryKeys {
  readonly #holders = new Map<string, Holder>()

  constructor(private readonly rows: MemoryRows) {}

  get size(): number {
    return this.#holders.size
  }

  find(type: string, key: string, now: number): MemoryRow | undefined {
    const holder = this.#holders.get(nameOf(type, key))
    return holder && this.#rowOf(holder, now)
  }

  take(type: string, key: string, holder: Holder, now: number): void {
    const name = nameOf(type, key)
    this.#holders.delete(name)
    this.#holders.set(name, holder)
    this.#purge(now)
  }

  /** Gives a key back to a row that is not over any more; its time is not longer for that. */
  keep(type: string, key: string, taskId: string, now: number): void {
    if (this.#holders.get(nameOf(type, key))?.taskId !== taskId) this.take(type, key, { taskId, until: now }, now)
  }

  /** The row, as long as the key is held. */
  #rowOf({ taskId, until }: Holder, now: number): MemoryRow | undefined {
    const row = this.rows.get(taskId)
    return row !== undefined && (until > now || !isTerminalStatus(row.status)) ? row : undefined
  }

  #purge(now: number): void {
    for (let left = PURGED_AT_ONCE; left > 0; left--) {
      const [oldest] = this.#holders
      if (oldest === undefined) return
      const [name, holder] = oldest
      this.#holders.delete(name)
      if (this.#rowOf(holder, now) !== undefined) this.#holders.set(name, holder)
    }
  }
}

/** A name that no two pairs of type and key have in common. */
export const nameOf = (type: string, key: string): string => JSON.stringify([type, key])
