import type { UsedBlob } from './recordBlob.js'

/** Asks for tasks whose blobs in one blob store are to be dealt with by now. */
export interface TakeDueBlobs {
  /** Of the blob store. Blobs of others are none of the taker's business, and are not looked at. */
  storeName: string
  /** Tasks at most; fewer, if they have many blobs. */
  limit: number
  /** How long nobody else is given the same tasks, in milliseconds. Nobody can record one of the blobs meanwhile. */
  leaseMs: number
}

/** A task whose blobs are due; its row may have gone already. */
export interface DueBlobs {
  taskId: string
  type: string
  /** What its policy says is to be deleted, and nobody else uses. */
  deletable: UsedBlob[]
  /** What it produced and its policy says is to be deleted, but another task was given. */
  inUse: UsedBlob[]
}

/** Tasks that were taken, and whether more are due. */
export interface DueBlobsPage {
  tasks: DueBlobs[]
  hasMore: boolean
}

/** What came of a task that was taken. */
export interface SettleBlobs {
  taskId: string
  storeName: string
  /** All that were taken as deletable. */
  taken: readonly UsedBlob[]
  /** What goes off the task's record, because it has been deleted. */
  gone: readonly UsedBlob[]
  /** When to look at the task again; without it, it is done with. */
  retryAfterMs?: number
}
