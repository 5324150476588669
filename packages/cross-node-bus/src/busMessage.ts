/**
 * What a subscriber receives: the published payload in its envelope.
 *
 * The payload is what JSON makes of the published value, so a `Date` arrives as its ISO string, `undefined` as `null`
 * and a class instance as a plain object. Whoever delivers a message shares it between handlers; treat it as read-only.
 *
 * @example
 * ```ts
 * bus.subscribe('orders', ({ originId, payload }) => console.log(`${originId} says`, payload))
 * ```
 */
export type BusMessage = {
  /** Version of the envelope. A receiver refuses every other number. */
  readonly v: 1
  /** The `nodeId` of the bus that published the message. */
  readonly originId: string
  /** When it was published: ISO 8601 by the clock of the publisher. For diagnosis only, never for ordering. */
  readonly emittedAt: string
  /**
   * Position of the message within its topic. Opaque: compare it with `compareSeq` of the bus it came from, and only
   * with tokens of the same topic. Absent if the bus lacks the capability `assignsSequence`.
   */
  readonly seq?: string
  /** The published value after a round trip through JSON. */
  readonly payload: unknown
}
