import { assertPositiveInteger } from './assertPositiveInteger.js'
import type { BusMessage } from './busMessage.js'
import type { BusMessageHandler } from './busMessageHandler.js'
import { callGuarded } from './callGuarded.js'
import type { MemoryBrokerOptions } from './memoryBrokerOptions.js'
import { parseSequence } from './parseSequence.js'
import type { PublishHooks } from './publishHooks.js'
import { ReplayWindowExceededError } from './replayWindowExceededError.js'
import { RetainedMessage } from './retainedMessage.js'
import { type ChannelOwner, TopicChannel } from './topicChannel.js'
import { wireTopicOf } from './wireTopicOf.js'

/**
 * The transport behind in-process buses: numbers the messages of each topic, retains the latest for replay and calls
 * the subscribers synchronously. Buses that share a broker hear each other.
 *
 * Messages are frozen and shared by all receivers. After disposal every method throws an `Error` that says "disposed". A
 * topic that is no string of whole characters is refused with an `InvalidTopicError`.
 *
 * @throws RangeError from the constructor, if `replayWindow` or `maxIdleTopics` is not a positive integer.
 *
 * @example
 * ```ts
 * using broker = new MemoryBroker({ replayWindow: 100 })
 * const shop = new InProcessCrossNodeBus({ broker, nodeId: 'shop' })
 * const stock = new InProcessCrossNodeBus({ broker, nodeId: 'stock' })
 * ```
 */
export class MemoryBroker implements Disposable {
  /** How many messages are retained per topic. */
  readonly replayWindow: number
  readonly #maxIdleTopics: number
  readonly #onEviction: MemoryBrokerOptions['onEviction']
  readonly #hearsEvictions: () => boolean
  readonly #channels = new Map<string, TopicChannel>()
  /** Topics that retain messages and have no subscribers, the one idle for longest first. */
  readonly #idle = new Set<string>()
  /** The one that was put into {@link #idle} last, whether or not it still is there. */
  #newestIdle: string | undefined
  /**
   * Highest number issued in a topic that was released. Topics opened later go on from there, lest a token from before
   * the release be taken for a position after it.
   */
  #releasedUpTo = 0
  #disposed = false

  constructor({ replayWindow = 1000, maxIdleTopics = 1000, onEviction, hearsEvictions }: MemoryBrokerOptions = {}) {
    assertPositiveInteger('replayWindow', replayWindow)
    assertPositiveInteger('maxIdleTopics', maxIdleTopics)
    this.replayWindow = replayWindow
    this.#maxIdleTopics = maxIdleTopics
    this.#onEviction = onEviction
    this.#hearsEvictions = hearsEvictions ?? ((): boolean => onEviction !== undefined)
  }

  /**
   * Accepts a message and calls the subscribers of its topic, after those of a message that is in delivery on the same
   * topic. Returns the message as it is delivered; its `seq` is a decimal number, beginning with `"1"` on a topic.
   * Failures of subscribers go to `onSubscriberError`, by default to `console.error`.
   *
   * @throws what `JSON.stringify` throws for a payload it cannot serialise; nothing is delivered then.
   */
  publish(
    topic: string,
    originId: string,
    payload: unknown,
    onSubscriberError?: PublishHooks['onSubscriberError'],
  ): BusMessage {
    return this.accept(topic, RetainedMessage.of(originId, payload), { onSubscriberError }).message
  }

  /**
   * {@link publish} for adapters that have the JSON text of the payload already.
   *
   * @throws SyntaxError if `json` is not JSON; nothing is delivered then.
   */
  publishSerialized(topic: string, originId: string, json: string, hooks: PublishHooks = {}): BusMessage {
    return this.accept(topic, RetainedMessage.ofJson(originId, json), hooks).message
  }

  /**
   * {@link publish} for the buses of this package, which do not look at what they have published.
   *
   * @internal
   */
  accept(topic: string, message: RetainedMessage, hooks: PublishHooks): RetainedMessage {
    const channel = this.#open(topic)
    if (channel.subscribers.size === 0) this.#markIdle(topic)
    channel.publish(message, hooks)
    return message
  }

  /** Calls `handler` for every message accepted on `topic` from now on, once per registration. */
  subscribe(topic: string, handler: BusMessageHandler): Disposable {
    const channel = this.#open(topic)
    this.#idle.delete(topic)
    return channel.subscribers.add(handler, channel.newest, () => {
      if (channel.subscribers.size > 0) return
      if (channel.retainedCount > 0) this.#markIdle(topic)
      else this.#channels.delete(topic)
    })
  }

  /** Token of the oldest retained message of `topic`, `undefined` if there is none. */
  oldestSeq(topic: string): string | undefined {
    const { oldest, retainedCount } = this.#peek(topic)
    return retainedCount > 0 ? String(oldest) : undefined
  }

  /** Token of the last message accepted on `topic`, the start token `"0"` if there was none. */
  newestSeq(topic: string): string {
    return String(this.#peek(topic).newest)
  }

  /**
   * The messages of `topic` after `fromSeq` that are retained at the time of the call, oldest first. The start token
   * `"0"` stands before the first message.
   *
   * @throws RangeError if `fromSeq` is not a non-negative integer in decimal digits.
   * @throws ReplayWindowExceededError if the message right after `fromSeq` is no longer retained, or `fromSeq` has not
   * been issued yet.
   */
  replay(topic: string, fromSeq: string): AsyncIterable<BusMessage> {
    const channel = this.#peek(topic)
    const from = parseSequence(fromSeq)
    if (from + 1 < channel.oldest || from > channel.newest) {
      throw new ReplayWindowExceededError(topic, fromSeq, this.oldestSeq(topic))
    }
    return iterate(channel.retainedFrom(from + 1))
  }

  /** Drops all messages and subscribers. */
  [Symbol.dispose](): void {
    this.#disposed = true
    for (const channel of this.#channels.values()) channel.subscribers.clear()
    this.#channels.clear()
    this.#idle.clear()
  }

  #ownerOf(topic: string): ChannelOwner {
    return {
      onAccepted: (message, { onAccepted }, evicted) => {
        if (onAccepted) callGuarded(() => onAccepted(message.message), logError)
        if (evicted && this.#hearsEvictions()) this.#tellEviction(topic, evicted, this.#peek(topic).retainedCount)
      },
      onSubscriberError: (error, handler, { onSubscriberError }) =>
        onSubscriberError ? callGuarded(() => onSubscriberError(error, handler), logError) : logError(error),
    }
  }

  #open(topic: string): TopicChannel {
    const known = this.#channels.get(topic)
    if (known) return known
    const channel = this.#peek(topic)
    this.#channels.set(topic, channel)
    return channel
  }

  /** Does not keep the channel of an unknown topic, so that asking about topics costs no memory. */
  #peek(topic: string): TopicChannel {
    if (this.#disposed) throw new Error('This MemoryBroker is disposed')
    const known = this.#channels.get(topic)
    if (known) return known
    wireTopicOf('', topic)
    return new TopicChannel(this.#ownerOf(topic), this.replayWindow, this.#releasedUpTo)
  }

  #markIdle(topic: string): void {
    if (topic === this.#newestIdle && this.#idle.has(topic)) return
    this.#newestIdle = topic
    this.#idle.delete(topic)
    this.#idle.add(topic)
    for (const longestIdle of this.#idle) {
      if (this.#idle.size <= this.#maxIdleTopics) return
      this.#release(longestIdle)
    }
  }

  #release(topic: string): void {
    const channel = this.#peek(topic)
    const dropped = channel.retainedFrom(0)
    this.#releasedUpTo = Math.max(this.#releasedUpTo, channel.newest)
    this.#channels.delete(topic)
    this.#idle.delete(topic)
    dropped.forEach((message, index) => this.#tellEviction(topic, message, dropped.length - index - 1))
  }

  #tellEviction(topic: string, { seq }: RetainedMessage, retainedCount: number): void {
    try {
      this.#onEviction?.(topic, String(seq), retainedCount)
    } catch (error) {
      logError(error)
    }
  }
}

// eslint-disable-next-line @typescript-eslint/require-await -- the contents are at hand, but the interface is asynchronous
async function* iterate(messages: readonly RetainedMessage[]): AsyncGenerator<BusMessage, void, undefined> {
  for (const { message } of messages) yield message
}

function logError(error: unknown): void {
  console.error('A callback given to the MemoryBroker failed', error)
}
