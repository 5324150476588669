/**
 * What becomes of a task's row and blobs once the task is over, and when. Fractions of days are allowed.
 *
 * @example
 * const policy: TaskRetentionPolicy = { onSuccess: 'delete-all', onFailure: 'keep', ttlAfterTerminalDays: 7, keepRowDays: 1 }
 */
export interface TaskRetentionPolicy {
  /** Which blobs of a task that has succeeded are deleted: none, those that it produced, or those it consumed as well. */
  onSuccess: 'keep' | 'delete-intermediate' | 'delete-all'
  /** The same for `failed` and `cancelled`. */
  onFailure: 'keep' | 'delete-all'
  /** Days after the end until the blobs are dealt with, and the row removed. Infinity: never. */
  ttlAfterTerminalDays: number
  /**
   * Days after the end for which the row, its history and its recorded steps are kept. 0: removed in the step that ends the
   * task; Infinity: kept for good. What concerns failed tasks is said by {@link keepFailedRowDays}.
   *
   * A task with children is kept as one with them: they wait for its end, and go with it.
   *
   * @default `ttlAfterTerminalDays`; a day where that is 0
   */
  keepRowDays?: number
  /**
   * The same for rows of failed tasks, which are what there is to look into. @default `keepRowDays`; where that is 0, what
   * `keepRowDays` is by default
   */
  keepFailedRowDays?: number
}

/**
 * Keep everything, for 30 days.
 *
 * @example
 * const policy = { ...DEFAULT_RETENTION_POLICY, onSuccess: 'delete-intermediate' as const }
 */
export const DEFAULT_RETENTION_POLICY: Readonly<TaskRetentionPolicy> = Object.freeze({
  onSuccess: 'keep',
  onFailure: 'keep',
  ttlAfterTerminalDays: 30,
})
