import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import type { RetryPolicy } from '../handler/retryPolicy.js'
import { checkNumber } from './checkNumber.js'

/** Answers the policy itself if each of its members is one that a policy can have. */
export const checkRetryPolicy = (policy: Readonly<RetryPolicy>): Readonly<RetryPolicy> => {
  const { maxAttempts, backoff, baseDelayMs, jitter } = policy
  checkNumber('retryPolicy.maxAttempts', maxAttempts, { min: 1, integer: true, infinity: 'retry for ever' })
  if (typeof backoff !== 'function' && !['exponential', 'linear', 'none'].includes(backoff)) {
    throw new InvalidArgumentError('retryPolicy.backoff', backoff, '"exponential", "linear", "none" or a function')
  }
  checkNumber('retryPolicy.baseDelayMs', baseDelayMs, { min: 0 })
  checkNumber('retryPolicy.jitter', jitter, { min: 0, max: 1 })
  return policy
}
