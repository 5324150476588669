import type { TerminalStatus } from '../task/taskStatus.js'

/**
 * A task that has ended with open children, which nobody has seen to yet.
 *
 * @example
 * const families: OrphanedFamily[] = await store.findOrphaned({ olderThanMs: 5_000, limit: 100 })
 * await store.markReaped(families.map(({ parentId }) => parentId))
 */
export interface OrphanedFamily {
  /** The task that has ended. */
  parentId: string
  /** How the parent ended. */
  status: TerminalStatus
}
