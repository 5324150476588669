import { randomUUID } from 'node:crypto'
import { assertBusCapabilities } from './assertBusCapabilities.js'
import type { BusMessage } from './busMessage.js'
import type { BusMessageHandler } from './busMessageHandler.js'
import { BusReporter } from './busReporter.js'
import { callGuarded } from './callGuarded.js'
import type { CrossNodeBusErrorPhase } from './crossNodeBusErrorPhase.js'
import type { CrossNodeBus } from './crossNodeBus.js'
import type { CrossNodeBusCapabilities } from './crossNodeBusCapabilities.js'
import { inProcessCapabilities } from './inProcessCapabilities.js'
import type { InProcessCrossNodeBusOptions } from './inProcessCrossNodeBusOptions.js'
import { MemoryBroker } from './memoryBroker.js'
import { parseSequence } from './parseSequence.js'
import { RetainedMessage } from './retainedMessage.js'
import { SubscriberList } from './subscriberList.js'
import { wireTopicOf } from './wireTopicOf.js'

/**
 * A bus within this process, for applications of one node and for tests. Delivery is synchronous inside `publish`, and
 * payloads make the same round trip through JSON as on a networked bus; they arrive frozen.
 *
 * Tokens are decimal numbers that begin with `"1"` on a topic; `"0"` is the start token.
 *
 * @throws RangeError from the constructor, if `replayWindow` is not a positive integer; InvalidTopicError from it, if
 * `topicPrefix` is no string of whole characters.
 *
 * @example
 * ```ts
 * using bus = new InProcessCrossNodeBus({ nodeId: 'worker-1' })
 * bus.subscribe('greetings', ({ seq, payload }) => console.log(seq, payload))
 * await bus.publish('greetings', 'hello')
 * ```
 */
export class InProcessCrossNodeBus implements CrossNodeBus {
  readonly nodeId: string
  readonly capabilities: CrossNodeBusCapabilities = inProcessCapabilities
  readonly #broker: MemoryBroker
  readonly #ownsBroker: boolean
  readonly #prefix: string
  readonly #reporter: BusReporter
  /** By topic on the wire. */
  readonly #routes = new Map<string, Route>()
  #disposed = false

  constructor(options: InProcessCrossNodeBusOptions = {}) {
    this.nodeId = options.nodeId ?? `local-${randomUUID()}`
    this.#prefix = wireTopicOf(options.topicPrefix ?? '', '')
    this.#reporter = new BusReporter(options.telemetry)
    this.#ownsBroker = !options.broker
    this.#broker =
      options.broker ??
      new MemoryBroker({
        replayWindow: options.replayWindow,
        // Only this bus publishes on a private broker, so each of its topics carries the prefix.
        onEviction: (wireTopic, evictedSeq, retainedCount) =>
          this.#reporter.evicted(wireTopic.slice(this.#prefix.length), evictedSeq, retainedCount),
        hearsEvictions: () => this.#reporter.hearsEvictions,
      })
  }

  /** Every failure is a rejection. Nothing in here waits, so that all successes can share one promise. */
  publish(topic: string, payload: unknown): Promise<void> {
    try {
      this.#accept(topic, payload)
      return ACCEPTED
    } catch (error) {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a payload's `toJSON` may throw anything
      return Promise.reject(error)
    }
  }

  #accept(topic: string, payload: unknown): void {
    this.#assertUsable()
    let phase: CrossNodeBusErrorPhase = 'publish'
    try {
      const wireTopic = wireTopicOf(this.#prefix, topic)
      phase = 'serialize'
      const message = RetainedMessage.of(this.nodeId, payload)
      phase = 'publish'
      this.#broker.accept(wireTopic, message, this.#reporter.hooksOf(topic, message))
    } catch (error) {
      this.#reporter.rejected(topic, phase, error)
      throw error
    }
  }

  subscribe(topic: string, handler: BusMessageHandler): Disposable {
    return this.#register(this.#prefix, { topic, handler, phase: 'subscribe', remoteOnly: false })
  }

  subscribeRemoteOnly(topic: string, handler: BusMessageHandler): Disposable {
    return this.#register(this.#prefix, { topic, handler, phase: 'subscribe', remoteOnly: true })
  }

  subscribeForeign(prefix: string, topic: string, handler: BusMessageHandler): Disposable {
    return this.#register(prefix, { topic, handler, phase: 'subscribeForeign', remoteOnly: false })
  }

  replay(topic: string, fromSeq: string): AsyncIterable<BusMessage> {
    this.#assertUsable()
    assertBusCapabilities(this, 'replay')
    return this.#reporter.watch(topic, 'replay', () => this.#broker.replay(wireTopicOf(this.#prefix, topic), fromSeq))
  }

  compareSeq(a: string, b: string): number {
    this.#assertUsable()
    return parseSequence(a) - parseSequence(b)
  }

  oldestSeq(topic: string): string | undefined {
    this.#assertUsable()
    return this.#broker.oldestSeq(wireTopicOf(this.#prefix, topic))
  }

  /** Resolves at once, since subscriptions of this bus are live when `subscribe` returns. */
  // eslint-disable-next-line @typescript-eslint/require-await -- asynchronous so that use after disposal rejects
  async whenReady(topic: string, prefix: string = this.#prefix): Promise<void> {
    this.#assertUsable()
    wireTopicOf(prefix, topic)
  }

  /** Ends all subscriptions, and the broker if it is a private one. */
  [Symbol.dispose](): void {
    this.#disposed = true
    for (const { subscribers, transport } of this.#routes.values()) {
      subscribers.clear()
      transport[Symbol.dispose]()
    }
    this.#routes.clear()
    if (this.#ownsBroker) this.#broker[Symbol.dispose]()
  }

  /** The same as `Symbol.dispose`: delivery is synchronous, so there is nothing in flight to wait for. */
  // eslint-disable-next-line @typescript-eslint/require-await -- see above
  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]()
  }

  #register(prefix: string, subscriber: Subscriber): Disposable {
    this.#assertUsable()
    return this.#reporter.watch(subscriber.topic, subscriber.phase, () => {
      const wireTopic = wireTopicOf(prefix, subscriber.topic)
      const since = parseSequence(this.#broker.newestSeq(wireTopic))
      const route = this.#routes.get(wireTopic) ?? this.#openRoute(wireTopic)
      return route.subscribers.add(subscriber, since, () => {
        if (route.subscribers.size > 0) return
        this.#routes.delete(wireTopic)
        route.transport[Symbol.dispose]()
      })
    })
  }

  /** One subscription at the broker serves all handlers of a topic. */
  #openRoute(wireTopic: string): Route {
    const subscribers = new SubscriberList<Subscriber>()
    const transport = this.#broker.subscribe(wireTopic, (message) => this.#receive(subscribers, message))
    const route = { subscribers, transport }
    this.#routes.set(wireTopic, route)
    return route
  }

  #receive(subscribers: SubscriberList<Subscriber>, message: BusMessage): void {
    const seq = parseSequence(message.seq ?? '')
    const [first] = subscribers.reachedBy(seq)
    if (!first) return
    this.#reporter.received(first.topic, message)
    for (const { topic, phase, handler, remoteOnly } of subscribers.reachedBy(seq)) {
      if (remoteOnly && message.originId === this.nodeId) continue
      callGuarded(
        () => handler(message),
        (error) => this.#reporter.failed(topic, phase, error),
      )
    }
  }

  #assertUsable(): void {
    if (this.#disposed) throw new Error(`The bus "${this.nodeId}" is disposed`)
  }
}

const ACCEPTED = Promise.resolve()

type Route = { readonly subscribers: SubscriberList<Subscriber>; readonly transport: Disposable }

type Subscriber = {
  /** As the subscriber calls it, without prefix. */
  readonly topic: string
  readonly handler: BusMessageHandler
  readonly phase: 'subscribe' | 'subscribeForeign'
  readonly remoteOnly: boolean
}
