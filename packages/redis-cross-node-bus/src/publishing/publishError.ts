/**
 * Why a message was not published, or may not have been:
 *
 * - `refused`: Redis answered with an error; the message is not in the stream,
 * - `expired`: it waited for a connection for too long; it was not sent,
 * - `dropped`: too many messages waited for a connection, and this was the oldest; it was not sent,
 * - `outcome-unknown`: the connection was lost after it had been sent, so it may be in the stream or not.
 *
 * @example
 * ```ts
 * const isUnsure = (reason: PublishFailure): boolean => reason === 'outcome-unknown'
 * ```
 */
export type PublishFailure = 'refused' | 'expired' | 'dropped' | 'outcome-unknown'

/**
 * `publish` of a `RedisCrossNodeBus` did not succeed. `reason` tells whether the message may have been accepted all the
 * same, and `cause` holds what the client or Redis said, where there was something.
 *
 * @example
 * ```ts
 * bus.publish('orders', { id: 7 }).catch((error: unknown) => {
 *   if (error instanceof PublishError && error.reason !== 'outcome-unknown') console.warn('publish it again')
 * })
 * ```
 */
export class PublishError extends Error {
  override readonly name = 'PublishError'

  constructor(
    /** As the caller named it. */
    readonly topic: string,
    /** Why, and with it whether the message may have been accepted. */
    readonly reason: PublishFailure,
    options?: ErrorOptions,
  ) {
    super(`Publishing on "${topic}" failed: ${TEXTS[reason]}`, options)
  }
}

const TEXTS: Readonly<Record<PublishFailure, string>> = {
  refused: 'Redis refused',
  expired: 'there was no connection to Redis for too long',
  dropped: 'too many messages waited for a connection to Redis',
  'outcome-unknown': 'the connection was lost before Redis answered, the message may have been accepted or not',
}
