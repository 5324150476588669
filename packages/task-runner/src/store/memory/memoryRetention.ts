import { DueQueue } from '../../collections/dueQueue.js'
import { retentionTimes } from '../../task/retentionTimes.js'
import { isTerminalStatus } from '../../task/taskStatus.js'
import { DEFAULT_KEY_TTL_MS } from '../createTask.js'
import type { RemovedRows } from '../removedRows.js'
import type { MemoryRow } from './memoryRow.js'
import type { MemoryRows } from './memoryRows.js'

/** How long a row is still there for those who see it end, where not its worker ended it. */
const LAST_LOOK_MS = 60_000
/** A row whose children are still being cancelled is looked at again after this. */
const OPEN_AGAIN_MS = 60_000

/** Removes the rows of tasks that have been over for long enough. */
export class MemoryRetention {
  readonly #due = new DueQueue<string, MemoryRow>()

  constructor(private readonly rows: MemoryRows) {}

  /** A task has just ended. Tells whether its row was removed in this very step, which only `mayRemove` allows. */
  keep(row: MemoryRow, at: number, mayRemove: boolean): boolean {
    // A child is kept as one with its parent.
    if (this.#parentOf(row) !== undefined) return false
    const until = Math.max(at + keptMs(row), heldUntil(row))
    if (until === at && row.childTaskIds.length === 0) {
      if (!mayRemove) {
        this.#put(row, at + LAST_LOOK_MS)
        return false
      }
      this.rows.delete(row)
      return true
    }
    if (until !== Infinity) this.#put(row, until)
    return false
  }

  /** A task has just ended. If its parent had to wait for that, it goes at its time. */
  keepFamily(row: MemoryRow): void {
    const parent = this.#parentOf(row)
    if (parent?.removeAt === undefined || parent.openChildren > 0 || parent.terminalAt === undefined) return
    this.#put(parent, Math.min(parent.removeAt, parent.terminalAt + keptMs(parent)))
  }

  /** Whether a row counts as removed, although nobody has come round to it yet. */
  isOver(row: MemoryRow, at: number): boolean {
    return row.removeAt !== undefined && row.removeAt <= at && isTerminalStatus(row.status)
  }

  remove(limit: number, at: number): RemovedRows {
    let removed = 0
    for (let looked = 0; looked < limit; looked++) {
      const row = this.#due.takeDue(at)
      if (row === undefined) return { removed, hasMore: false }
      if (this.#remove(row, at)) removed++
    }
    return { removed, hasMore: (this.#due.nextDue ?? Infinity) <= at }
  }

  /** A row is to run again. */
  forget(row: MemoryRow): void {
    row.removeAt = undefined
    this.#due.delete(row.created.id)
  }

  /** Removes a failed row now, and its children with it; one that has open children as soon as it has none. */
  discard(row: MemoryRow, at: number): void {
    if (row.openChildren > 0) {
      this.rows.deadLetters.delete(row)
      this.#put(row, at)
      return
    }
    this.forget(row)
    this.#delete(row, at)
  }

  #delete(row: MemoryRow, at: number): void {
    this.rows.delete(row)
    for (const childId of row.childTaskIds) {
      const child = this.rows.get(childId)
      if (child !== undefined) this.#put(child, at)
    }
  }

  #remove(row: MemoryRow, at: number): boolean {
    row.removeAt = undefined
    // It has been made to run again.
    if (!isTerminalStatus(row.status)) return false
    const keptUntil = row.openChildren > 0 ? at + OPEN_AGAIN_MS : heldUntil(row)
    if (keptUntil > at) {
      this.#put(row, keptUntil)
      return false
    }
    this.#delete(row, at)
    return true
  }

  #parentOf({ created: { parentTaskId } }: MemoryRow): MemoryRow | undefined {
    return parentTaskId === undefined ? undefined : this.rows.get(parentTaskId)
  }

  #put(row: MemoryRow, until: number): void {
    row.removeAt = until
    this.#due.set(row.created.id, row, until)
  }
}

const keptMs = ({ status, retentionPolicy }: MemoryRow): number => {
  const { row, failedRow } = retentionTimes(retentionPolicy)
  return status === 'failed' ? failedRow : row
}

/** A key must not outlive its task, or the same key would make another one. */
const heldUntil = ({ created: { idempotencyKey, keyTtlMs = DEFAULT_KEY_TTL_MS }, submittedAt }: MemoryRow): number =>
  idempotencyKey === undefined ? -Infinity : submittedAt + keyTtlMs
