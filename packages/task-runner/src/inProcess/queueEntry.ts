/** One entry of the queue in this process. */
export interface QueueEntry {
  readonly taskId: string
  readonly type: string
  readonly version: number
  /** Sorted. */
  readonly tags: readonly string[]
  /** Since when it has waited in its lane, in epoch milliseconds. */
  waitsSince: number
  deliveries: number
  /** Deliveries in a row whose claim was rejected instead of answered. */
  rejections: number
}
