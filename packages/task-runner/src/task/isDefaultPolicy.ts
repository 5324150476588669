import { DEFAULT_RETENTION_POLICY, type TaskRetentionPolicy } from './taskRetentionPolicy.js'

/**
 * Whether a policy says nothing but the default.
 *
 * @example
 * isDefaultPolicy({ ...DEFAULT_RETENTION_POLICY }) // true
 */
export const isDefaultPolicy = (policy: Readonly<TaskRetentionPolicy>): boolean =>
  policy.onSuccess === DEFAULT_RETENTION_POLICY.onSuccess &&
  policy.onFailure === DEFAULT_RETENTION_POLICY.onFailure &&
  policy.ttlAfterTerminalDays === DEFAULT_RETENTION_POLICY.ttlAfterTerminalDays &&
  policy.keepRowDays === undefined &&
  policy.keepFailedRowDays === undefined
