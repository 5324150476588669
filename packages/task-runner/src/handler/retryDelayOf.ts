import { checkNumber } from '../argument/checkNumber.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { Clock } from '../time/clock.js'
import type { BackoffFailure } from './backoffFunction.js'
import { calculateBackoff, MAX_BACKOFF_MS } from './calculateBackoff.js'
import type { RetryPolicy } from './retryPolicy.js'

/** The pause after a failure in whole milliseconds, up to one hour; `undefined` if the policy forbids a retry. */
export const retryDelayOf = (
  policy: Readonly<RetryPolicy>,
  failure: BackoffFailure,
  report: ReportError,
  clock: Pick<Clock, 'random'>,
): number | undefined => {
  const { backoff } = policy
  const random = (): number => clock.random()
  if (typeof backoff !== 'function') return calculateBackoff(policy, failure.failures, random)
  try {
    const answer = backoff(failure)
    if (answer === 'never') return undefined
    const range = { min: 0, infinity: 'one hour' }
    return Math.min(MAX_BACKOFF_MS, Math.round(checkNumber('the answer of retryPolicy.backoff', answer, range)))
  } catch (error) {
    report('backoff', error)
    return calculateBackoff(policy, failure.failures, random)
  }
}
