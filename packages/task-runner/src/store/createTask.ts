import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { TaskStatus } from '../task/taskStatus.js'
import type { StoredTask } from './storedTask.js'

/** A new row. `payloadJson` is JSON text, absent for `undefined`. */
export interface CreateTask {
  id: string
  type: string
  handlerVersion: number
  status: 'draft' | 'pending'
  payloadJson?: string
  /** Epoch milliseconds. */
  notBefore?: number
  idempotencyKey?: string
  parentTaskId?: string
  submittedBy?: string
  tags: readonly string[]
  retentionPolicy: TaskRetentionPolicy
}

/**
 * - `created`: the row stands under `taskId` since `at` (epoch milliseconds by the store's clock). With a parent, it
 *   stands among the parent's open children, and `parentType` is what the parent is.
 * - `exists`: a row with this id (or, in a joint step, with this idempotency key) stood already and is untouched.
 * - `refused`: there is no such parent, or it is over or `cancelling`. Of tasks that are created in one step none is,
 *   and all are answered with the parent that stood in the way.
 */
export type CreateResult =
  | { kind: 'created'; taskId: string; at: number; parentType?: string }
  | { kind: 'exists'; stored: StoredTask }
  | { kind: 'refused'; parentTaskId: string; parentStatus?: TaskStatus }
