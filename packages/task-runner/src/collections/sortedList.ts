interface Slot<T> {
  readonly value: T
  isGone: boolean
}

/**
 * Values in an order of their own, for which most come in that order already: then adding one costs nothing to speak of,
 * and so does deleting one. Reading may begin anywhere, in both directions.
 *
 * @example
 * const list = new SortedList<number>((a, b) => a - b)
 * list.add(2)
 * list.add(1)
 * console.log([...list.from(undefined, 'forwards')]) // [1, 2]
 */
export class SortedList<T> {
  #slots: Array<Slot<T>> = []
  #size = 0

  constructor(private readonly compare: (a: T, b: T) => number) {}

  get size(): number {
    return this.#size
  }

  /** Without effect if an equal value is there. */
  add(value: T): void {
    const index = this.#indexOf(value)
    const slot = this.#slots[index]
    if (slot !== undefined && this.compare(slot.value, value) === 0) {
      if (slot.isGone) this.#size++
      slot.isGone = false
      return
    }
    this.#size++
    if (index === this.#slots.length) this.#slots.push({ value, isGone: false })
    else this.#slots.splice(index, 0, { value, isGone: false })
  }

  /** Deletes the equal value; tells whether it was there. */
  delete(value: T): boolean {
    const slot = this.#slots[this.#indexOf(value)]
    if (slot === undefined || slot.isGone || this.compare(slot.value, value) !== 0) return false
    slot.isGone = true
    this.#size--
    if (this.#slots.length > 2 * this.#size + 16) this.#slots = this.#slots.filter(({ isGone }) => !isGone)
    return true
  }

  /** The values beyond a position, which need not be there itself; without one from the end. */
  *from(position: T | undefined, direction: 'forwards' | 'backwards'): Generator<T> {
    const isForwards = direction === 'forwards'
    const slots = this.#slots
    const step = isForwards ? 1 : -1
    let index = isForwards ? 0 : slots.length - 1
    if (position !== undefined) {
      index = this.#indexOf(position)
      const isThere = index < slots.length && this.compare(slots[index]!.value, position) === 0
      if (!isForwards) index--
      else if (isThere) index++
    }
    for (let slot = slots[index]; slot !== undefined; slot = slots[(index += step)]) if (!slot.isGone) yield slot.value
  }

  /** Where the first value stands that is not before this one. */
  #indexOf(value: T): number {
    let low = 0
    let high = this.#slots.length
    const last = this.#slots[high - 1]
    if (last !== undefined && this.compare(last.value, value) < 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compare(this.#slots[middle]!.value, value) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
