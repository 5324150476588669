/**
 * Options of `MemoryBroker`.
 *
 * @example
 * ```ts
 * const options: MemoryBrokerOptions = { replayWindow: 100, onEviction: (topic) => console.warn(`${topic} is full`) }
 * ```
 */
export type MemoryBrokerOptions = {
  /** How many messages are retained per topic: a positive integer, by default 1000. */
  readonly replayWindow?: number | undefined
  /**
   * How many topics without subscribers keep their messages: a positive integer, by default 1000. Beyond that, the topic
   * that has been idle for the longest is released with all it retained. Replaying a released topic fails with
   * `ReplayWindowExceededError`, and so does replaying an unknown one from the start once any topic was released, since
   * the broker no longer knows the two apart.
   */
  readonly maxIdleTopics?: number | undefined
  /** Called for each message that is dropped, with the number of messages its topic retains after that. */
  readonly onEviction?: ((topic: string, evictedSeq: string, retainedCount: number) => void) | undefined
  /**
   * Whether `onEviction` is worth calling at present: a full window drops one for each that it takes.
   *
   * @internal
   */
  readonly hearsEvictions?: (() => boolean) | undefined
}
