import { isNonRetryableError } from '../errors/isNonRetryableError.js'
import { ResultError } from '../errors/resultError.js'
import { calculateBackoff } from '../handler/calculateBackoff.js'
import { encodeJson } from '../json/encodeJson.js'
import type { AttemptOutcome } from '../store/finishAttempt.js'
import type { Run, RunEnd } from './run.js'
import { toAttemptError } from './toAttemptError.js'

/** What the end of a handler, and whatever it was told before, make of its attempt. */
export const attemptOutcomeOf = (run: Run, end: RunEnd): AttemptOutcome => {
  if (end.kind === 'returned') return succeed(run, end.value)
  if (end.kind === 'suspended') return { kind: 'suspended', awaiting: end.awaiting }
  if (end.kind === 'parked') return { kind: 'parked', delayMs: end.delayMs }
  const { stop } = run
  if (stop?.kind === 'handBack') return { kind: 'released' }
  if (stop?.kind === 'cancel') {
    return { kind: 'cancelled', error: toAttemptError(end.kind === 'threw' ? end.error : stop.error) }
  }
  // A handler that was cut off by its time-out has not said anything itself.
  return fail(run, end.kind === 'threw' ? end.error : stop?.error)
}

const succeed = (run: Run, value: unknown): AttemptOutcome => {
  try {
    const resultJson = encodeJson(value)
    return resultJson === undefined ? { kind: 'succeeded' } : { kind: 'succeeded', resultJson }
  } catch (error) {
    return fail(
      run,
      new ResultError(run.type, error instanceof Error ? error.message : String(error), { cause: error }),
    )
  }
}

const fail = ({ handler: { retryPolicy }, failures }: Run, thrown: unknown): AttemptOutcome => {
  const error = toAttemptError(thrown)
  const willRetry = failures + 1 < retryPolicy.maxAttempts && !isNonRetryableError(thrown)
  if (!willRetry) return { kind: 'failed', error }
  return { kind: 'failed', error, retryDelayMs: calculateBackoff(retryPolicy, failures + 1) }
}
