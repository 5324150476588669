import { isTerminalStatus } from '../../task/taskStatus.js'
import type { OrphanedFamily } from '../orphanedFamily.js'
import type { MemoryRow } from './memoryRow.js'
import type { MemoryRows } from './memoryRows.js'

/** Which tasks have ended with open children that nobody has seen to yet. */
export class MemoryOrphans {
  /** Since when, in the order of these times. */
  readonly #since = new Map<string, number>()

  constructor(private readonly rows: MemoryRows) {}

  /** A task has just ended. */
  mark({ created: { id }, openChildren }: MemoryRow, at: number): void {
    if (openChildren > 0) this.#since.set(id, at)
  }

  unmark(parentIds: readonly string[]): void {
    for (const parentId of parentIds) this.#since.delete(parentId)
  }

  /** Those that have been marked since `until` or before, longest first, at most `limit`. */
  marked(until: number, limit: number): OrphanedFamily[] {
    const found: OrphanedFamily[] = []
    for (const [parentId, since] of this.#since) {
      if (since > until || found.length >= limit) break
      const row = this.rows.get(parentId)
      if (row !== undefined && isTerminalStatus(row.status) && row.openChildren > 0) {
        found.push({ parentId, status: row.status })
      } else {
        this.#since.delete(parentId)
      }
    }
    return found
  }
}
