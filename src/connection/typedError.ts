import { isErrorReply, wasNotSent } from '@furystack/redis-connection'

import type { LaneError } from '../errors/laneError.js'
import { OutcomeUnknownError } from '../errors/outcomeUnknownError.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'
import { RedisUnavailableError } from '../errors/redisUnavailableError.js'

/**
 * What a client's rejection means: the server refused, there was no connection, or the connection was lost after the
 * command had been written.
 *
 * @example
 * typedError('submit', new Error('Socket closed unexpectedly')).code // 'outcome-unknown'
 */
export const typedError = (operation: string, error: unknown): LaneError => {
  if (isErrorReply(error)) return new RedisRefusedError(operation, error.message, { cause: error })
  if (wasNotSent(error)) return new RedisUnavailableError(operation, 0, { cause: error })
  return new OutcomeUnknownError(operation, { cause: error })
}
