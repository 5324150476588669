interface Entry<K, V> {
  readonly key: K
  readonly value: V
  due: number
  readonly order: number
  index: number
}

const isBefore = (a: Entry<unknown, unknown>, b: Entry<unknown, unknown>): boolean =>
  a.due < b.due || (a.due === b.due && a.order < b.order)

/**
 * Values ordered by when they are due, each under a key: the earliest is known at once, setting, moving and deleting
 * cost the logarithm of the size. Equal times keep the order of their arrival.
 *
 * @example
 * const queue = new DueQueue<string, string>()
 * queue.set('a', 'first', 1000)
 * queue.takeDue(1000) // 'first'
 */
export class DueQueue<K, V> {
  readonly #byKey = new Map<K, Entry<K, V>>()
  readonly #heap: Array<Entry<K, V>> = []
  #arrivals = 0

  get size(): number {
    return this.#heap.length
  }

  /** When the earliest value is due, `undefined` if there is none. */
  get nextDue(): number | undefined {
    return this.#heap[0]?.due
  }

  get(key: K): V | undefined {
    return this.#byKey.get(key)?.value
  }

  /** Puts a value in, in place of what was under the key. */
  set(key: K, value: V, due: number): void {
    this.delete(key)
    const entry = { key, value, due, order: this.#arrivals++, index: this.#heap.length }
    this.#byKey.set(key, entry)
    this.#heap.push(entry)
    this.#rise(entry)
  }

  delete(key: K): void {
    const entry = this.#byKey.get(key)
    if (entry !== undefined) this.#remove(entry)
  }

  /** Takes the earliest value out if it is due at `now`. */
  takeDue(now: number): V | undefined {
    const entry = this.#heap[0]
    if (entry === undefined || entry.due > now) return undefined
    this.#remove(entry)
    return entry.value
  }

  clear(): void {
    this.#byKey.clear()
    this.#heap.length = 0
  }

  #remove(entry: Entry<K, V>): void {
    this.#byKey.delete(entry.key)
    const last = this.#heap.pop()
    if (last === undefined || last === entry) return
    this.#place(last, entry.index)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(entry: Entry<K, V>): void {
    for (;;) {
      const parent = this.#heap[(entry.index - 1) >> 1]
      if (entry.index === 0 || parent === undefined || isBefore(parent, entry)) return
      this.#swap(parent, entry)
    }
  }

  #sink(entry: Entry<K, V>): void {
    for (;;) {
      const left = this.#heap[2 * entry.index + 1]
      const right = this.#heap[2 * entry.index + 2]
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || isBefore(entry, child)) return
      this.#swap(entry, child)
    }
  }

  #swap(upper: Entry<K, V>, lower: Entry<K, V>): void {
    const index = upper.index
    this.#place(upper, lower.index)
    this.#place(lower, index)
  }

  #place(entry: Entry<K, V>, index: number): void {
    entry.index = index
    this.#heap[index] = entry
  }
}
