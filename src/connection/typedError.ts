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
  if (isErrorReply(error)) return new RedisRefusedError(operation, messageOf(error), { cause: error })
  if (isOffline(error)) return new RedisUnavailableError(operation, 0, { cause: error })
  return new OutcomeUnknownError(operation, { cause: error })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** By name, because the classes of two majors of the client may be loaded at once. */
const isErrorReply = (error: unknown): boolean => classNames(error).includes('ErrorReply')

const isOffline = (error: unknown): boolean =>
  classNames(error).some((name) => name === 'ClientOfflineError' || name === 'ClientClosedError')

const classNames = (error: unknown): string[] => {
  const names: string[] = []
  for (let proto: unknown = error; proto instanceof Error; proto = Object.getPrototypeOf(proto))
    names.push(proto.constructor.name)
  return names
}
