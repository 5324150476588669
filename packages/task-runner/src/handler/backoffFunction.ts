/**
 * A failure that a retry policy is asked about.
 *
 * @example
 * const pauseMs = ({ failures }: BackoffFailure): number => 1_000 * failures
 */
export interface BackoffFailure {
  /** The number of the attempt that failed, from 1. Attempts that were lost or handed back count here too. */
  readonly attempt: number
  /** The failures so far, this one among them; from 1. */
  readonly failures: number
  /** Whatever the handler threw. */
  readonly error: unknown
}

/**
 * Decides about the pause after a failure: milliseconds from 0, of which an hour is the most that is kept, or `'never'`
 * to let the task fail for good. It is not asked where no attempt is left.
 *
 * One that throws, or answers anything else, is reported to telemetry, and the pause is that of `exponential`.
 *
 * @example
 * const backoff: BackoffFunction = ({ failures, error }) =>
 *   error instanceof TypeError ? 60_000 : failures > 3 ? 'never' : 1_000 * failures
 */
export type BackoffFunction = (failure: BackoffFailure) => number | 'never'
