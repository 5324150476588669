/**
 * What a look for rows whose time is over came to.
 *
 * @example
 * const { removed, hasMore }: RemovedRows = await store.removeExpired({ limit: 100 })
 */
export interface RemovedRows {
  /** How many rows went. */
  removed: number
  /** Whether there are more of them, so that it is worth asking again at once. */
  hasMore: boolean
}
