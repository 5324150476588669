/**
 * The subscribers of one topic. Each registration counts on its own, even if two hold the same value, and only gets the
 * messages that were accepted after it was made.
 */
export class SubscriberList<T> {
  readonly #entries = new Set<Entry<T>>()

  /** How many registrations there are. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * Registers `value` for the messages with a number greater than `since`. `onRemoved` runs when the returned handle is
   * disposed for the first time.
   */
  add(value: T, since: number, onRemoved: () => void): Disposable {
    const entry = { value, since }
    this.#entries.add(entry)
    return {
      [Symbol.dispose]: () => {
        if (this.#entries.delete(entry)) onRemoved()
      },
    }
  }

  /** Who was there before message number `seq`, in the order of registration. Skips whoever leaves meanwhile. */
  *reachedBy(seq: number): Generator<T, void, undefined> {
    for (const entry of [...this.#entries]) {
      if (entry.since < seq && this.#entries.has(entry)) yield entry.value
    }
  }

  /** Removes everybody without notice. */
  clear(): void {
    this.#entries.clear()
  }
}

type Entry<T> = { readonly value: T; readonly since: number }
