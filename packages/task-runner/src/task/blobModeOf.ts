import type { TaskRetentionPolicy } from './taskRetentionPolicy.js'
import type { TerminalStatus } from './taskStatus.js'

/**
 * What becomes of the blobs of a task that ended so.
 *
 * @example
 * blobModeOf({ ...DEFAULT_RETENTION_POLICY, onFailure: 'delete-all' }, 'cancelled') // 'delete-all'
 */
export const blobModeOf = (
  { onSuccess, onFailure }: Readonly<TaskRetentionPolicy>,
  status: TerminalStatus,
): TaskRetentionPolicy['onSuccess'] => (status === 'succeeded' ? onSuccess : onFailure)
