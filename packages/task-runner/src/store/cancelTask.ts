import type { ParentUpdate } from './parentUpdate.js'
import type { StoredTask } from './storedTask.js'

/**
 * Asks for a cancel; the reason is logged in any case, empty or not.
 *
 * @example
 * const input: CancelTask = { taskId, reason: 'no longer needed' }
 * await store.cancel(input)
 */
export interface CancelTask {
  /** The task. */
  taskId: string
  /** What the task is told. */
  reason?: string
}

/**
 * - `cancelled`: nobody was running it; it is terminal now.
 * - `cancelling`: an owner with a live lease was; it ends it.
 * - `unchanged`: it is terminal, or was `cancelling` already.
 *
 * @example
 * const result: CancelResult = await store.cancel({ taskId })
 * if (result.kind === 'cancelling') console.log('its owner has been told')
 */
export type CancelResult =
  | { kind: 'cancelled'; stored: StoredTask; at: number; parent?: ParentUpdate }
  | { kind: 'cancelling'; stored: StoredTask; at: number }
  | { kind: 'unchanged'; stored: StoredTask }
  | { kind: 'unknown' }
