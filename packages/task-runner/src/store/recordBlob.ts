import type { BlobRef } from '@furystack/blob-store'

/**
 * What a task has to do with a blob: it wrote it, or it was given it to read.
 *
 * @example
 * const isOurs = (use: BlobUse): boolean => use === 'produced'
 */
export type BlobUse = 'produced' | 'consumed'

/**
 * A blob, and what a task has to do with it.
 *
 * @example
 * const used: UsedBlob = { use: 'consumed', blob: ctx.allocateBlob('report.pdf') }
 */
export interface UsedBlob {
  /** What the task has to do with it. */
  use: BlobUse
  /** The blob. */
  blob: BlobRef
}

/**
 * Puts a blob on a task's record, fenced by the attempt. A blob that is on it already gets what is new about it.
 *
 * @example
 * const input: RecordBlob = { taskId, attempt: 1, use: 'produced', blob: ctx.allocateBlob('report.pdf') }
 * await store.recordBlob(input)
 */
export interface RecordBlob extends UsedBlob {
  /** The task. */
  taskId: string
  /** The number that `begun` gave. */
  attempt: number
}

/**
 * - `recorded`: it stands on the record, and is not deleted before the task's policy says so.
 * - `busy`: the blob is just being deleted, which is over in `retryAfterMs` at the latest.
 * - `lost`: the attempt is no longer the present one.
 *
 * @example
 * const isThere = (result: RecordBlobResult): boolean => result.kind === 'recorded'
 */
export type RecordBlobResult =
  { kind: 'recorded'; at: number } | { kind: 'busy'; retryAfterMs: number } | { kind: 'lost' }
