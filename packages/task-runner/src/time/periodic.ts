import type { Clock } from './clock.js'
import { systemClock } from './systemClock.js'

/** What is to be done again and again. */
export interface PeriodicOptions {
  /** Pause between the end of a run and the next, in milliseconds; anything that is not finite switches it off. */
  intervalMs: number
  /** Whether the first run is at once, not after a pause. */
  immediately?: boolean
  /** @default the system's */
  clock?: Clock
  run(): Promise<void>
  onError(error: unknown): void
}

/**
 * Runs something again and again, never twice at a time, each pause up to a tenth shorter or longer so that many
 * processes do not keep step. A run that fails is reported, and the next one comes all the same.
 *
 * @example
 * using sweep = new Periodic({ intervalMs: 1000, run: () => Promise.resolve(), onError: console.error })
 */
export class Periodic implements Disposable {
  readonly #options: PeriodicOptions
  readonly #clock: Clock
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(options: PeriodicOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    if (!Number.isFinite(options.intervalMs)) return
    if (options.immediately === true) this.#arm(0)
    else this.#rest()
  }

  public [Symbol.dispose](): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #rest(): void {
    this.#arm(this.#options.intervalMs * (0.9 + this.#clock.random() * 0.2))
  }

  #arm(delayMs: number): void {
    if (!this.#stopped) this.#cancel = this.#clock.setTimer(() => void this.#run(), delayMs, { isBackground: true })
  }

  async #run(): Promise<void> {
    try {
      await this.#options.run()
    } catch (error) {
      if (!this.#stopped) this.#options.onError(error)
    }
    this.#rest()
  }
}
