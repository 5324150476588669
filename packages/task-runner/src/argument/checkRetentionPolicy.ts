import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import { checkNumber } from './checkNumber.js'
import { checkObject } from './checkObject.js'

/** Ten thousand years: what ends later has no date. */
const DAYS = { min: 0, max: 3_652_500, infinity: 'for good' }

/** Answers the policy with what is missing filled in, if each of its members is one that a policy can have. */
export const checkRetentionPolicy = (
  given: Readonly<Partial<TaskRetentionPolicy>> | undefined,
  byDefault: Readonly<TaskRetentionPolicy>,
): Readonly<TaskRetentionPolicy> => {
  if (given === undefined) return byDefault
  const {
    onSuccess = byDefault.onSuccess,
    onFailure = byDefault.onFailure,
    ttlAfterTerminalDays = byDefault.ttlAfterTerminalDays,
    keepRowDays = byDefault.keepRowDays,
    keepFailedRowDays = byDefault.keepFailedRowDays,
  } = checkObject('retentionPolicy', given)
  if (!['keep', 'delete-intermediate', 'delete-all'].includes(onSuccess)) {
    const expected = '"keep", "delete-intermediate" or "delete-all"'
    throw new InvalidArgumentError('retentionPolicy.onSuccess', onSuccess, expected)
  }
  if (!['keep', 'delete-all'].includes(onFailure)) {
    throw new InvalidArgumentError('retentionPolicy.onFailure', onFailure, '"keep" or "delete-all"')
  }
  checkNumber('retentionPolicy.ttlAfterTerminalDays', ttlAfterTerminalDays, DAYS)
  const policy: TaskRetentionPolicy = { onSuccess, onFailure, ttlAfterTerminalDays }
  if (keepRowDays !== undefined) {
    policy.keepRowDays = checkNumber('retentionPolicy.keepRowDays', keepRowDays, DAYS)
  }
  if (keepFailedRowDays !== undefined) {
    policy.keepFailedRowDays = checkNumber('retentionPolicy.keepFailedRowDays', keepFailedRowDays, DAYS)
  }
  return policy
}
