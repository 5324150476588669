/**
 * A first-in, first-out list with constant cost at both ends.
 *
 * @example
 * const deque = new Deque<string>()
 * deque.push('a')
 * deque.shift() // 'a'
 */
export class Deque<T> {
  #items: Array<T | undefined> = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  /** The one that comes out next; it stays in. */
  get first(): T | undefined {
    return this.#items[this.#head]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#head]
    // Lets go of the item now, and of the places in front once they are the larger half.
    this.#items[this.#head++] = undefined
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
