import { InvalidTopicError } from './invalidTopicError.js'

/**
 * The name of a topic on the wire: its prefix, and what the caller calls it. For authors of adapters.
 *
 * @throws InvalidTopicError if either is no string, or holds half a surrogate pair: a transport would put another character
 * in its place, so that two topics became one.
 *
 * @example
 * ```ts
 * wireTopicOf('shop/', 'orders') // 'shop/orders'
 * ```
 */
export function wireTopicOf(prefix: string, topic: string): string {
  if (!isText(topic)) throw new InvalidTopicError(topic, REASON)
  // The whole would not show it where two halves meet.
  if (!isText(prefix)) throw new InvalidTopicError(prefix, `cannot be a prefix: it ${REASON}`)
  return prefix + topic
}

const REASON = 'is no string of whole characters'

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed()
}
