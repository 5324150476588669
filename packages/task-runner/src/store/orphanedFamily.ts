import type { TerminalStatus } from '../task/taskStatus.js'

/** A task that has ended with open children, which nobody has seen to yet. */
export interface OrphanedFamily {
  parentId: string
  /** How the parent ended. */
  status: TerminalStatus
}
