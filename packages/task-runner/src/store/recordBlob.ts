import type { BlobRef } from '@furystack/blob-store'

/** What a task has to do with a blob: it wrote it, or it was given it to read. */
export type BlobUse = 'produced' | 'consumed'

/** A blob, and what a task has to do with it. */
export interface UsedBlob {
  use: BlobUse
  blob: BlobRef
}

/** Puts a blob on a task's record, fenced by the attempt. A blob that is on it already gets what is new about it. */
export interface RecordBlob extends UsedBlob {
  taskId: string
  attempt: number
}

/**
 * - `recorded`: it stands on the record, and is not deleted before the task's policy says so.
 * - `busy`: the blob is just being deleted, which is over in `retryAfterMs` at the latest.
 * - `lost`: the attempt is no longer the present one.
 */
export type RecordBlobResult =
  { kind: 'recorded'; at: number } | { kind: 'busy'; retryAfterMs: number } | { kind: 'lost' }
