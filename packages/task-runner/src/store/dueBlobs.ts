import type { UsedBlob } from './recordBlob.js'

/**
 * Asks for tasks whose blobs in one blob store are to be dealt with by now.
 *
 * @example
 * const query: TakeDueBlobs = { storeName: 's3', limit: 100, leaseMs: 60_000 }
 * await store.takeDueBlobs(query)
 */
export interface TakeDueBlobs {
  /** Of the blob store. Blobs of others are none of the taker's business, and are not looked at. */
  storeName: string
  /** Tasks at most; fewer, if they have many blobs. */
  limit: number
  /** How long nobody else is given the same tasks, in milliseconds. Nobody can record one of the blobs meanwhile. */
  leaseMs: number
}

/**
 * A task whose blobs are due; its row may have gone already.
 *
 * @example
 * const keysOf = ({ deletable }: DueBlobs): string[] => deletable.map(({ blob }) => blob.key)
 */
export interface DueBlobs {
  /** The task that is over. */
  taskId: string
  /** Its type, for telemetry. */
  type: string
  /** What its policy says is to be deleted, and nobody else uses. */
  deletable: UsedBlob[]
  /** What it produced and its policy says is to be deleted, but another task was given. */
  inUse: UsedBlob[]
}

/**
 * Tasks that were taken, and whether more are due.
 *
 * @example
 * const { tasks, hasMore }: DueBlobsPage = await store.takeDueBlobs({ storeName: 's3', limit: 100, leaseMs: 60_000 })
 */
export interface DueBlobsPage {
  /** Those that were taken. */
  tasks: DueBlobs[]
  /** Whether it is worth asking again at once. */
  hasMore: boolean
}

/**
 * What came of a task that was taken.
 *
 * @example
 * const input: SettleBlobs = { taskId, storeName: 's3', taken: [], gone: [] }
 * await store.settleBlobs(input)
 */
export interface SettleBlobs {
  /** The task that was taken. */
  taskId: string
  /** The blob store, as it was taken for. */
  storeName: string
  /** All that were taken as deletable. */
  taken: readonly UsedBlob[]
  /** What goes off the task's record, because it has been deleted. */
  gone: readonly UsedBlob[]
  /** When to look at the task again; without it, it is done with. */
  retryAfterMs?: number
}
