import { LaneError } from './laneError.js'

/**
 * The connection was lost, or stood still beyond the deadline, after the command had been written. Whether Redis carried
 * it out cannot be known from here. Repeat a submit only with an idempotency key.
 *
 * @example
 * new OutcomeUnknownError('submit').effect // 'unknown'
 */
export class OutcomeUnknownError extends LaneError {
  readonly code = 'outcome-unknown'
  readonly effect = 'unknown'

  constructor(
    /** What was asked for. */
    readonly operation: string,
    options?: ErrorOptions,
  ) {
    super(`${operation}: the connection to Redis was lost before the reply; whether it took effect is unknown`, options)
  }
}
