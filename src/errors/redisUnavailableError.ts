import { LaneError } from './laneError.js'

/**
 * There was no connection to Redis for as long as a command may wait. Nothing was sent, so nothing happened; the
 * connection keeps trying by itself, and the call may be repeated.
 *
 * @example
 * new RedisUnavailableError('submit', 5000).effect // 'excluded'
 */
export class RedisUnavailableError extends LaneError {
  readonly code = 'redis-unavailable'
  readonly effect = 'excluded'

  constructor(
    /** What was asked for. */
    readonly operation: string,
    /** For how long it waited for a connection, in milliseconds. */
    readonly waitedMs: number,
    options?: ErrorOptions,
  ) {
    super(
      `${operation}: no connection to Redis for ${String(waitedMs)} ms; nothing was sent, the connection keeps trying`,
      options,
    )
  }
}
