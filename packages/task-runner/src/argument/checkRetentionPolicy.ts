import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import { checkNumber } from './checkNumber.js'

/** Answers the policy itself if each of its members is one that a policy can have. */
export const checkRetentionPolicy = (policy: Readonly<TaskRetentionPolicy>): Readonly<TaskRetentionPolicy> => {
  const { onSuccess, onFailure, ttlAfterTerminalDays } = policy
  if (!['keep', 'delete-intermediate', 'delete-all'].includes(onSuccess)) {
    const expected = '"keep", "delete-intermediate" or "delete-all"'
    throw new InvalidArgumentError('retentionPolicy.onSuccess', onSuccess, expected)
  }
  if (!['keep', 'delete-all'].includes(onFailure)) {
    throw new InvalidArgumentError('retentionPolicy.onFailure', onFailure, '"keep" or "delete-all"')
  }
  checkNumber('retentionPolicy.ttlAfterTerminalDays', ttlAfterTerminalDays, { min: 0 })
  return policy
}
