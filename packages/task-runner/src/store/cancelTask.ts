import type { ParentUpdate } from './parentUpdate.js'
import type { StoredTask } from './storedTask.js'

/** Asks for a cancel; the reason is logged in any case, empty or not. */
export interface CancelTask {
  taskId: string
  reason?: string
}

/**
 * - `cancelled`: nobody was running it; it is terminal now.
 * - `cancelling`: an owner with a live lease was; it ends it.
 * - `unchanged`: it is terminal, or was `cancelling` already.
 */
export type CancelResult =
  | { kind: 'cancelled'; stored: StoredTask; at: number; parent?: ParentUpdate }
  | { kind: 'cancelling'; stored: StoredTask; at: number }
  | { kind: 'unchanged'; stored: StoredTask }
  | { kind: 'unknown' }
