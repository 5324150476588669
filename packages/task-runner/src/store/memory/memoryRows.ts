import { DueQueue } from '../../collections/dueQueue.js'
import { MemoryBlobs } from './memoryBlobs.js'
import { MemoryDeadLetters } from './memoryDeadLetters.js'
import type { MemoryRow } from './memoryRow.js'
import { deadlineOf } from './memoryTransitions.js'

/** The rows with the indexes that keep every question from looking at all of them. */
export class MemoryRows {
  readonly #rows = new Map<string, MemoryRow>()
  /** Since when a pending row carries the mark "not yet enqueued"; the oldest comes first. */
  readonly #unqueuedSince = new Map<string, number>()
  readonly #leases = new DueQueue<string, MemoryRow>()
  /** Pending rows by the time that they have to have begun by. */
  readonly #deadlines = new DueQueue<string, MemoryRow>()

  readonly blobs = new MemoryBlobs()
  readonly deadLetters = new MemoryDeadLetters((taskId) => this.#rows.get(taskId))

  get(taskId: string): MemoryRow | undefined {
    return this.#rows.get(taskId)
  }

  add(row: MemoryRow): void {
    const { id, consumedBlobs = [] } = row.created
    this.#rows.set(id, row)
    for (const blob of consumedBlobs) this.blobs.add(row, { use: 'consumed', blob })
    if (row.status === 'pending') this.#wait(row, row.submittedAt)
  }

  delete(row: MemoryRow): void {
    const { id } = row.created
    this.#rows.delete(id)
    this.#unqueuedSince.delete(id)
    this.#leases.delete(id)
    this.#deadlines.delete(id)
    this.blobs.rowGone(row)
    if (row.status === 'failed') this.deadLetters.delete(row)
  }

  /** Moves a row out of the status that it has, and keeps the indexes in step with it. */
  settle(row: MemoryRow, at: number, move: () => void): void {
    const { id } = row.created
    if (row.status === 'failed') this.deadLetters.delete(row)
    move()
    if (row.status === 'failed') this.deadLetters.add(row)
    this.#leases.delete(id)
    // Deleted first, so that it goes to the end: the marks are kept in the order of their times.
    this.#unqueuedSince.delete(id)
    this.#deadlines.delete(id)
    if (row.status === 'pending') this.#wait(row, at)
  }

  /** Gives a row to an owner until then. */
  lease(row: MemoryRow, until: number): void {
    row.leaseUntil = until
    this.#leases.set(row.created.id, row, until)
    this.#unqueuedSince.delete(row.created.id)
    this.#deadlines.delete(row.created.id)
  }

  /** Takes the row that had to have begun first, if one had by `now`. */
  takeOverdue(now: number): MemoryRow | undefined {
    return this.#deadlines.takeDue(now)
  }

  /** Takes the row whose lease ran out first, if one has at `now`. */
  takeExpired(now: number): MemoryRow | undefined {
    return this.#leases.takeDue(now)
  }

  /** When the first lease or deadline is over. */
  get nextDue(): number | undefined {
    const [lease, deadline] = [this.#leases.nextDue, this.#deadlines.nextDue]
    return lease === undefined || deadline === undefined ? (lease ?? deadline) : Math.min(lease, deadline)
  }

  unmark(taskId: string): void {
    this.#unqueuedSince.delete(taskId)
  }

  /** The rows that have been marked since `until` or before, oldest first, at most `limit`. */
  marked(until: number, limit: number): MemoryRow[] {
    const found: MemoryRow[] = []
    for (const [taskId, since] of this.#unqueuedSince) {
      if (since > until || found.length >= limit) break
      const row = this.#rows.get(taskId)
      if (row !== undefined) found.push(row)
    }
    return found
  }

  #wait(row: MemoryRow, at: number): void {
    const { id } = row.created
    const deadline = deadlineOf(row)
    this.#unqueuedSince.set(id, at)
    if (deadline !== Infinity) this.#deadlines.set(id, row, deadline)
  }
}
