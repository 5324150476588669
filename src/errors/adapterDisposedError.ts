import { LaneError } from './laneError.js'

/**
 * The adapter was used after it had been disposed.
 *
 * @example
 * new AdapterDisposedError('enqueue').message // 'enqueue: the adapter has been disposed'
 */
export class AdapterDisposedError extends LaneError {
  readonly code = 'disposed'
  readonly effect = 'excluded'

  constructor(
    /** What was asked for. */
    readonly operation: string,
  ) {
    super(`${operation}: the adapter has been disposed`)
  }
}
