import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
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
 * `created`: the row stands under `taskId`. `exists`: a row with this id (or, in a joint step, with this idempotency
 * key) stood already and is untouched.
 */
export type CreateResult =
  | { kind: 'created'; taskId: string; /** Epoch milliseconds by the store's clock. */ at: number }
  | { kind: 'exists'; stored: StoredTask }
