import type { BlobRef } from '@furystack/blob-store'

import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { TaskStatus } from '../task/taskStatus.js'
import type { StoredTask } from './storedTask.js'

/** How long an idempotency key belongs to its task by default. */
export const DEFAULT_KEY_TTL_MS = 86_400_000

/** A new row. `payloadJson` is JSON text, absent for `undefined`. */
export interface CreateTask {
  id: string
  type: string
  handlerVersion: number
  status: 'draft' | 'pending'
  payloadJson?: string
  /** Epoch milliseconds. */
  notBefore?: number
  /** Epoch milliseconds; a pending row that has not been begun by then fails. */
  startBefore?: number
  /**
   * Belongs to this task until it is over, and for `keyTtlMs` after its creation; see {@link CreateResult}. The row is kept
   * for as long.
   */
  idempotencyKey?: string
  /** Milliseconds, at least 0, or Infinity. @default a day */
  keyTtlMs?: number
  /** Whether the key may be taken from a task that has failed or was cancelled. @default false */
  resubmitAfterFailure?: boolean
  parentTaskId?: string
  submittedBy?: string
  /** Blobs that the task is given to read, which others must not delete as long as it needs them. */
  consumedBlobs?: readonly BlobRef[]
  tags: readonly string[]
  retentionPolicy: TaskRetentionPolicy
}

/**
 * - `created`: the row stands under `taskId` since `at` (epoch milliseconds by the store's clock). With a parent, it
 *   stands among the parent's open children, and `parentType` is what the parent is.
 * - `exists`: the idempotency key belongs to another task of this type, or a row with this id stood already. It is
 *   untouched. The key counts first.
 * - `refused`: there is no such parent, or it is over or `cancelling`. Of tasks that are created in one step none is,
 *   and all are answered with the parent that stood in the way.
 */
export type CreateResult =
  | { kind: 'created'; taskId: string; at: number; parentType?: string }
  | { kind: 'exists'; stored: StoredTask }
  | { kind: 'refused'; parentTaskId: string; parentStatus?: TaskStatus }
