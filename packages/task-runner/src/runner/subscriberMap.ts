import type { TaskUpdate } from '../task/taskUpdate.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'

/** Takes the updates that somebody subscribed to, and whose word they are: that of a runner is its mark. */
export type UpdateHandler = (update: TaskUpdate, via: unknown) => void

interface Subscriber {
  readonly handler: UpdateHandler
}

/** Subscribers by task or by type. They cannot harm each other: what one throws is reported. */
export class SubscriberMap {
  readonly #subscribers = new Map<string, Set<Subscriber>>()

  constructor(private readonly report: ReportError) {}

  get size(): number {
    return this.#subscribers.size
  }

  /** The same function may be added twice, and is called twice then. */
  add(key: string, handler: UpdateHandler): Disposable {
    const subscriber = { handler }
    const present = this.#subscribers.get(key) ?? new Set()
    this.#subscribers.set(key, present.add(subscriber))
    return {
      [Symbol.dispose]: () => {
        if (present.delete(subscriber) && present.size === 0) this.#subscribers.delete(key)
      },
    }
  }

  deliver(key: string, update: TaskUpdate, via: unknown): void {
    const present = this.#subscribers.get(key)
    if (present === undefined) return
    for (const subscriber of [...present]) {
      if (present.has(subscriber)) this.#call(subscriber.handler, update, via)
    }
  }

  clear(): void {
    for (const present of this.#subscribers.values()) present.clear()
    this.#subscribers.clear()
  }

  #call(handler: UpdateHandler, update: TaskUpdate, via: unknown): void {
    try {
      // The type says void, which an asynchronous function is allowed for as well.
      const answer = handler(update, via) as unknown
      if (answer instanceof Promise) answer.catch((error: unknown) => this.report('subscriber', error))
    } catch (error) {
      this.report('subscriber', error)
    }
  }
}
