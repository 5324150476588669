import { compareRedisStreamId } from '../streams/compareRedisStreamId.js'
import { START_ID } from '../streams/completeness.js'
import type { Entry } from '../streams/entry.js'
import type { Subscriber } from './subscriber.js'

/** One stream that is read, and who gets its entries. */
export class Route {
  readonly subscribers = new Set<Subscriber>()
  /** Entries that were read and not delivered yet, oldest first. */
  backlog: Entry[] = []
  /** Whether the next entries have to be read together with the state of the stream, because some may be gone. */
  isBehind = true
  /** How many deliveries there had been at all at its last one. */
  servedAt = 0
  /** A stream that cannot be read is left alone until then. */
  restsUntil = 0
  /** When it was last read, by the scheduler's clock. */
  readAt: number
  /** The error that was reported, until it is over. */
  trouble: string | undefined
  #cursor: string | undefined
  #delivered = START_ID

  constructor(
    readonly key: string,
    now: number,
  ) {
    this.readAt = now
  }

  /** The id up to which the stream was read; `undefined` until the position of a subscriber is known. */
  get cursor(): string | undefined {
    return this.#cursor
  }

  /** Lets a subscriber begin after an entry; goes back to it if later ones were read already. */
  begin(subscriber: Subscriber, position: string): void {
    subscriber.position = position
    subscriber.setReady()
    if (this.#cursor === undefined) {
      this.#cursor = this.#delivered = position
    } else if (compareRedisStreamId(position, this.#cursor) < 0) {
      this.backlog = []
      this.#cursor = compareRedisStreamId(position, this.#delivered) < 0 ? position : this.#delivered
      this.isBehind = true
    }
  }

  /** Takes what was read after `cursor`, unless it is no longer what was to be read. */
  push(entries: readonly Entry[], cursor: string): void {
    const last = entries.at(-1)
    if (cursor !== this.#cursor || last === undefined) return
    this.backlog.push(...entries)
    this.#cursor = last.id
  }

  /** Everything in the stream after this id is new, although higher ones were read before. */
  goBackTo(id: string): void {
    this.#cursor = this.#delivered = id
    this.backlog = []
    for (const subscriber of this.subscribers) {
      const { position } = subscriber
      if (position !== undefined && compareRedisStreamId(position, id) > 0) subscriber.position = id
    }
  }

  /** The next entry to deliver, with those who are to get it: whoever has been here before it. */
  next(): { readonly entry: Entry; readonly subscribers: readonly Subscriber[] } | undefined {
    const entry = this.backlog.shift()
    if (entry === undefined) return undefined
    this.#delivered = entry.id
    const subscribers = [...this.subscribers].filter((subscriber) => {
      if (subscriber.position === undefined || compareRedisStreamId(subscriber.position, entry.id) >= 0) return false
      subscriber.position = entry.id
      return true
    })
    return { entry, subscribers }
  }
}
