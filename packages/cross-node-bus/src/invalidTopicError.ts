/**
 * A topic, or the prefix in front of it, that a bus does not take: it is no string, holds half a surrogate pair, which no
 * transport could give back as it was, or lies where this bus does not reach. Nothing was sent.
 *
 * @example
 * ```ts
 * await bus.publish('\ud800', 1).catch((error: unknown) => {
 *   if (error instanceof InvalidTopicError) console.error(error.message)
 * })
 * ```
 */
export class InvalidTopicError extends TypeError {
  override readonly name = 'InvalidTopicError'

  constructor(
    /** As the caller named it. */
    readonly topic: unknown,
    /** What is wrong with it, as the end of a sentence. */
    readonly reason: string,
  ) {
    super(`The topic ${shown(topic)} ${reason}`)
  }
}

/** JSON escapes what a log could not show. */
const shown = (topic: unknown): string =>
  typeof topic === 'string' ? JSON.stringify(topic.length > 80 ? `${topic.slice(0, 80)}…` : topic) : `(${typeof topic})`
