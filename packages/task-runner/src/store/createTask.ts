import type { BlobRef } from '@furystack/blob-store'

import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { TaskStatus } from '../task/taskStatus.js'
import type { StoredTask } from './storedTask.js'

/**
 * How long an idempotency key belongs to its task by default.
 *
 * @example
 * const expiresAt = Date.now() + DEFAULT_KEY_TTL_MS // a day from now
 */
export const DEFAULT_KEY_TTL_MS = 86_400_000

/**
 * A new row. `payloadJson` is JSON text, absent for `undefined`.
 *
 * @example
 * const input: CreateTask = {
 *   id: crypto.randomUUID(),
 *   type: 'send-mail',
 *   handlerVersion: 1,
 *   status: 'pending',
 *   payloadJson: '{"to":"a@example.org"}',
 *   tags: [],
 *   retentionPolicy: DEFAULT_RETENTION_POLICY,
 * }
 */
export interface CreateTask {
  /** Unique; a random UUID, as a rule. */
  id: string
  /** Selects the handler. */
  type: string
  /** The version of the handler that it asks for. */
  handlerVersion: number
  /** `draft`: not to run before it is started. */
  status: 'draft' | 'pending'
  /** The payload; absent for `undefined`. */
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
  /** The task that it is to be a child of. */
  parentTaskId?: string
  /** Identity of whoever submits. */
  submittedBy?: string
  /** Blobs that the task is given to read, which others must not delete as long as it needs them. */
  consumedBlobs?: readonly BlobRef[]
  /** What a worker must offer. */
  tags: readonly string[]
  /** What becomes of it once it is over. */
  retentionPolicy: TaskRetentionPolicy
  /** Whether the policy was asked for, so that it counts over that of the handler also where it is the default. */
  isPolicyGiven?: boolean
}

/**
 * - `created`: the row stands under `taskId` since `at` (epoch milliseconds by the store's clock). With a parent, it
 *   stands among the parent's open children, and `parentType` is what the parent is.
 * - `exists`: the idempotency key belongs to another task of this type, or a row with this id stood already. It is
 *   untouched. The key counts first.
 * - `refused`: there is no such parent, or it is over or `cancelling`. Of tasks that are created in one step none is,
 *   and all are answered with the parent that stood in the way.
 *
 * @example
 * const created: CreateResult = await store.create(draft)
 * if (created.kind === 'exists') console.log(`${created.stored.task.id} has the key`)
 */
export type CreateResult =
  | { kind: 'created'; taskId: string; at: number; parentType?: string }
  | { kind: 'exists'; stored: StoredTask }
  | { kind: 'refused'; parentTaskId: string; parentStatus?: TaskStatus }

/**
 * What came of a task that is created together with others, all or nothing. `withheld`: none of them was created, because a
 * key in the list belongs to a task whose payload is another text. `stored` is that task, and absent for its neighbours.
 *
 * @example
 * const results: CreateManyResult[] = (await store.createMany?.([draft])) ?? []
 * if (results.some(({ kind }) => kind === 'withheld')) console.log('nothing was written')
 */
export type CreateManyResult = CreateResult | { kind: 'withheld'; stored?: StoredTask }
