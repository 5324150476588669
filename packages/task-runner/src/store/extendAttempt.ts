/** Extends the lease of a running attempt, fenced by its number; may store progress in the same write. */
export interface ExtendAttempt {
  taskId: string
  attempt: number
  visibilityTimeoutMs: number
  progress?: { percent: number; metaJson?: string }
}

/** `extended` tells whether a cancel has been asked for meanwhile; `lost`: the attempt is no longer the present one. */
export type ExtendResult =
  { kind: 'extended'; at: number; cancelling: boolean; cancelReason?: string } | { kind: 'lost' }
