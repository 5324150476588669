/** What a look for rows whose time is over came to. */
export interface RemovedRows {
  removed: number
  /** Whether there are more of them, so that it is worth asking again at once. */
  hasMore: boolean
}
