/** What happens to a task's blobs, and when, once the task is terminal. */
export interface TaskRetentionPolicy {
  onSuccess: 'keep' | 'delete-intermediate' | 'delete-all'
  /** Applies to `failed` and to `cancelled`. */
  onFailure: 'keep' | 'delete-all'
  /** Days after the terminal status; fractions are allowed. */
  ttlAfterTerminalDays: number
}

/**
 * Keep everything, look again after 30 days.
 *
 * @example
 * const policy = { ...DEFAULT_RETENTION_POLICY, onSuccess: 'delete-intermediate' as const }
 */
export const DEFAULT_RETENTION_POLICY: Readonly<TaskRetentionPolicy> = Object.freeze({
  onSuccess: 'keep',
  onFailure: 'keep',
  ttlAfterTerminalDays: 30,
})
