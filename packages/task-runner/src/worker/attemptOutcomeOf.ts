import { isNonRetryableError } from '../errors/isNonRetryableError.js'
import { isNotNowError } from '../errors/isNotNowError.js'
import { messageOf } from '../errors/messageOf.js'
import { ResultError } from '../errors/resultError.js'
import { retryDelayOf } from '../handler/retryDelayOf.js'
import { encodeJson } from '../json/encodeJson.js'
import type { AttemptOutcome } from '../store/finishAttempt.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { Run, RunEnd } from './run.js'
import { MAX_DELAY_MS } from '../time/maxDelayMs.js'
import { toAttemptError } from './toAttemptError.js'

/** What an outcome depends on beside the run. */
export interface OutcomeParts {
  readonly report: ReportError
  readonly settings: { readonly maxPayloadBytes: number }
}

/** What the end of a handler, and whatever it was told before, make of its attempt. */
export const attemptOutcomeOf = (run: Run, end: RunEnd, parts: OutcomeParts): AttemptOutcome => {
  if (end.kind === 'returned') return succeed(run, end.value, parts)
  if (end.kind === 'suspended') return { kind: 'suspended', awaiting: end.awaiting }
  if (end.kind === 'parked') return { kind: 'parked', delayMs: end.delayMs }
  const { stop } = run
  if (stop?.kind === 'handBack') return { kind: 'released' }
  if (stop?.kind === 'cancel') {
    return { kind: 'cancelled', error: toAttemptError(end.kind === 'threw' ? end.error : stop.error) }
  }
  if (end.kind === 'threw' && isNotNowError(end.error))
    return { kind: 'released', delayMs: Math.min(MAX_DELAY_MS, Math.ceil(end.error.delayMs)) }
  // A handler that was cut off by its time-out has not said anything itself.
  return fail(run, end.kind === 'threw' ? end.error : stop?.error, parts.report)
}

const succeed = (run: Run, value: unknown, { report, settings }: OutcomeParts): AttemptOutcome => {
  try {
    const resultJson = encodeJson(value, settings.maxPayloadBytes)
    return resultJson === undefined ? { kind: 'succeeded' } : { kind: 'succeeded', resultJson }
  } catch (error) {
    return fail(run, new ResultError(run.type, messageOf(error), { cause: error }), report)
  }
}

const fail = (
  { handler: { retryPolicy }, attempt, failures, clock }: Run,
  thrown: unknown,
  report: ReportError,
): AttemptOutcome => {
  const error = toAttemptError(thrown)
  const mayRetry = failures + 1 < retryPolicy.maxAttempts && !isNonRetryableError(thrown)
  const failure = { attempt, failures: failures + 1, error: thrown }
  const retryDelayMs = mayRetry ? retryDelayOf(retryPolicy, failure, report, clock) : undefined
  return retryDelayMs === undefined ? { kind: 'failed', error } : { kind: 'failed', error, retryDelayMs }
}
