import type { TaskRetentionPolicy } from './taskRetentionPolicy.js'

/**
 * A policy in times: milliseconds after the end of a task, Infinity for never.
 *
 * @example
 * const { row, failedRow }: RetentionTimes = retentionTimes(DEFAULT_RETENTION_POLICY) // 30 days each
 */
export interface RetentionTimes {
  /** Until the row of a task that has succeeded or was cancelled is removed; 0 is in the step that ends it. */
  readonly row: number
  /** Until the row of a failed task is. */
  readonly failedRow: number
  /** Until the blobs are dealt with. */
  readonly blobs: number
}

const DAY_MS = 86_400_000
/** Whatever is kept for longer than a century is kept for good. */
const MAX_MS = 36_500 * DAY_MS

const msOf = (days: number): number => (days * DAY_MS > MAX_MS ? Infinity : Math.ceil(days * DAY_MS))

/**
 * Reads the times from a policy.
 *
 * @example
 * retentionTimes({ ...DEFAULT_RETENTION_POLICY, keepRowDays: 0 }).row // 0
 */
export const retentionTimes = (policy: Readonly<TaskRetentionPolicy>): RetentionTimes => {
  const { ttlAfterTerminalDays, keepRowDays, keepFailedRowDays } = policy
  const byDefault = ttlAfterTerminalDays > 0 ? ttlAfterTerminalDays : 1
  const days = keepRowDays ?? byDefault
  return {
    row: msOf(days),
    failedRow: msOf(keepFailedRowDays ?? (days > 0 ? days : byDefault)),
    blobs: msOf(ttlAfterTerminalDays),
  }
}
