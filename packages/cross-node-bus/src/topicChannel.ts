import type { BusMessageHandler } from './busMessageHandler.js'
import { callGuarded } from './callGuarded.js'
import type { PublishHooks } from './publishHooks.js'
import type { RetainedMessage } from './retainedMessage.js'
import { SubscriberList } from './subscriberList.js'

/** Who hears of the publications of a channel, with what their publishers want to know. None of the two may throw. */
export type ChannelOwner = {
  /** The message has its number and is retained, `evicted` is what it pushed out; nobody has received it yet. */
  readonly onAccepted: (message: RetainedMessage, hooks: PublishHooks, evicted: RetainedMessage | undefined) => void
  readonly onSubscriberError: (error: unknown, handler: BusMessageHandler, hooks: PublishHooks) => void
}

/** One topic of the broker: its numbering, its retained messages and its subscribers. */
export class TopicChannel {
  readonly subscribers = new SubscriberList<BusMessageHandler>()
  /** A ring of the window's size, in which the newest message overwrites the oldest. */
  readonly #ring: RetainedMessage[] = []
  readonly #owner: ChannelOwner
  readonly #window: number
  readonly #first: number
  readonly #undelivered: Delivery[] = []
  #newest: number
  #delivering = false

  /** `base` is the number before the first one to be issued. */
  constructor(owner: ChannelOwner, window: number, base: number) {
    this.#owner = owner
    this.#window = window
    this.#first = base + 1
    this.#newest = base
  }

  /** The last number issued. */
  get newest(): number {
    return this.#newest
  }

  /** The lowest retained number, or the next one to be issued if nothing is retained. */
  get oldest(): number {
    return this.#newest - this.#ring.length + 1
  }

  get retainedCount(): number {
    return this.#ring.length
  }

  /** A copy of the retained messages from number `seq` on, oldest first. */
  retainedFrom(seq: number): RetainedMessage[] {
    const start = Math.max(seq, this.oldest)
    const count = Math.max(this.#newest - start + 1, 0)
    return Array.from({ length: count }, (_, index) => this.#ring[this.#slotOf(start + index)] as RetainedMessage)
  }

  /**
   * Retains and delivers a message. A publication from within a handler is accepted at once but delivered only after
   * the message in delivery has reached everybody, since all subscribers have to see the same order.
   */
  publish(message: RetainedMessage, hooks: PublishHooks): void {
    const seq = ++this.#newest
    message.seq = seq
    const slot = this.#slotOf(seq)
    const evicted = this.#ring[slot]
    this.#ring[slot] = message
    if (this.subscribers.size > 0 || this.#delivering) this.#undelivered.push({ message, hooks })
    if (this.#delivering) {
      this.#owner.onAccepted(message, hooks, evicted)
    } else {
      this.#delivering = true
      this.#owner.onAccepted(message, hooks, evicted)
      this.#deliver()
      this.#delivering = false
    }
  }

  #slotOf(seq: number): number {
    return (seq - this.#first) % this.#window
  }

  #deliver(): void {
    for (let next = this.#undelivered.shift(); next; next = this.#undelivered.shift()) {
      const { message, hooks } = next
      for (const handler of this.subscribers.reachedBy(message.seq)) {
        callGuarded(
          () => handler(message.message),
          (error) => this.#owner.onSubscriberError(error, handler, hooks),
        )
      }
    }
  }
}

type Delivery = { readonly message: RetainedMessage; readonly hooks: PublishHooks }
