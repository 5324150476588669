import type { Clock } from './clock.js'
import { systemClock } from './systemClock.js'

interface Trouble {
  readonly since: number
  count: number
}

/** How the delays grow, and how many keys are remembered. */
export interface GrowingDelaysOptions {
  firstMs: number
  maxMs: number
  /** The oldest key is forgotten for one more than this. @default 10_000 */
  capacity?: number
}

/**
 * Delays that double with each trouble of the same key, up to a limit.
 *
 * @example
 * const delays = new GrowingDelays({ firstMs: 250, maxMs: 30_000 })
 * delays.next('a').delayMs // 250
 * delays.next('a').delayMs // 500
 */
export class GrowingDelays {
  readonly #options: Required<GrowingDelaysOptions>
  readonly #troubles = new Map<string, Trouble>()

  constructor(
    options: GrowingDelaysOptions,
    private readonly clock: Clock = systemClock,
  ) {
    this.#options = { capacity: 10_000, ...options }
  }

  /** The delay for one more trouble, how many there were, and for how long they have been going on. */
  next(key: string): { delayMs: number; count: number; sinceMs: number } {
    const now = this.clock.elapsed()
    const trouble = this.#troubles.get(key) ?? this.#remember(key, now)
    const delayMs = Math.min(this.#options.maxMs, this.#options.firstMs * 2 ** trouble.count)
    trouble.count++
    return { delayMs, count: trouble.count, sinceMs: now - trouble.since }
  }

  forget(key: string): void {
    if (this.#troubles.size > 0) this.#troubles.delete(key)
  }

  #remember(key: string, now: number): Trouble {
    const [oldest] = this.#troubles.keys()
    if (oldest !== undefined && this.#troubles.size >= this.#options.capacity) this.#troubles.delete(oldest)
    const trouble = { since: now, count: 0 }
    this.#troubles.set(key, trouble)
    return trouble
  }
}
