import type { Clock } from '../time/clock.js'
import { withinMs } from '../time/withinMs.js'

/** Counts what is active, and lets everybody who asks wait until nothing is. */
export class Idleness {
  #active = 0
  #waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  constructor(private readonly clock: Clock) {}

  get active(): number {
    return this.#active
  }

  enter(): void {
    this.#active++
  }

  leave(): void {
    if (--this.#active === 0) this.release()
  }

  /** Lets go whoever waits, idle or not. */
  release(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  /** One promise, however many ask for it; never rejects. */
  wait(): Promise<void> {
    if (this.#active === 0) return Promise.resolve()
    if (this.#waiting === undefined) {
      let resolve!: () => void
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#waiting = { promise, resolve }
    }
    return this.#waiting.promise
  }

  /** Waits at most `ms` milliseconds, whoever is let go meanwhile; tells whether nothing is active. */
  async idleWithin(ms: number): Promise<boolean> {
    const until = this.clock.elapsed() + ms
    for (;;) {
      const left = until - this.clock.elapsed()
      if (this.#active === 0 || left <= 0) return this.#active === 0
      await withinMs(this.clock, this.wait(), left)
    }
  }
}
