/**
 * Extends the lease of a running attempt, fenced by its number; may store progress in the same write.
 *
 * @example
 * const input: ExtendAttempt = { taskId, attempt: 1, visibilityTimeoutMs: 60_000, progress: { percent: 50 } }
 * await store.extendAttempt(input)
 */
export interface ExtendAttempt {
  /** The task. */
  taskId: string
  /** The number that `begun` gave. */
  attempt: number
  /** How long the lease lasts from now on, in milliseconds. */
  visibilityTimeoutMs: number
  /** What to store in the same write; `metaJson` is JSON text. */
  progress?: { percent: number; metaJson?: string }
}

/**
 * `extended` tells whether a cancel has been asked for meanwhile; `lost`: the attempt is no longer the present one.
 *
 * @example
 * const result: ExtendResult = await store.extendAttempt({ taskId, attempt: 1, visibilityTimeoutMs: 60_000 })
 * if (result.kind === 'extended' && result.cancelling) console.log(result.cancelReason)
 */
export type ExtendResult =
  { kind: 'extended'; at: number; cancelling: boolean; cancelReason?: string } | { kind: 'lost' }
