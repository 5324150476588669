import type { BusMessageHandler } from './busMessageHandler.js'
import { callGuarded } from './callGuarded.js'
import type { PayloadSnapshot } from './payloadSnapshot.js'
import { RetainedMessage } from './retainedMessage.js'
import { SubscriberList } from './subscriberList.js'

/** How a channel tells the outcome of a publication. None of the two may throw. */
export type ChannelHooks = {
  /** The message has its number and is retained, `evicted` is what it pushed out; nobody has received it yet. */
  readonly onAccepted: (message: RetainedMessage, evicted: RetainedMessage | undefined) => void
  readonly onSubscriberError: (error: unknown, handler: BusMessageHandler) => void
}

/** One topic of the broker: its numbering, its retained messages and its subscribers. */
export class TopicChannel {
  readonly subscribers = new SubscriberList<BusMessageHandler>()
  /** A ring of the window's size, in which the newest message overwrites the oldest. */
  readonly #ring: RetainedMessage[] = []
  readonly #window: number
  readonly #first: number
  readonly #undelivered: Delivery[] = []
  #newest: number
  #delivering = false

  /** `base` is the number before the first one to be issued. */
  constructor(window: number, base: number) {
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
  publish(originId: string, payload: PayloadSnapshot, hooks: ChannelHooks): RetainedMessage {
    const seq = ++this.#newest
    const message = new RetainedMessage(originId, seq, payload)
    const slot = this.#slotOf(seq)
    const evicted = this.#ring[slot]
    this.#ring[slot] = message
    if (this.subscribers.size > 0 || this.#delivering) this.#undelivered.push({ message, hooks })
    if (this.#delivering) {
      hooks.onAccepted(message, evicted)
    } else {
      this.#delivering = true
      hooks.onAccepted(message, evicted)
      this.#deliver()
      this.#delivering = false
    }
    return message
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
          (error) => hooks.onSubscriberError(error, handler),
        )
      }
    }
  }
}

type Delivery = { readonly message: RetainedMessage; readonly hooks: ChannelHooks }
