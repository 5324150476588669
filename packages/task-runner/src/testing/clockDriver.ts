import type { SchedulerLike } from 'rxjs'

import { checkNumber } from '../argument/checkNumber.js'
import type { Clock } from '../time/clock.js'
import { ClockScheduler } from './clockScheduler.js'
import type { VirtualClock } from './virtualClock.js'
import type { VirtualTime } from './virtualTime.js'

/** The platform's own, whatever is put in its place later. */
const { setImmediate, setTimeout, performance } = globalThis

const realNow = (): number => performance.now()

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** For what is real, and not seen from here. */
const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

/** Moves a {@link VirtualClock}, and lets happen what is due. */
export class ClockDriver implements VirtualTime {
  public readonly clock: Clock
  public readonly scheduler: SchedulerLike
  readonly #clock: VirtualClock

  constructor(clock: VirtualClock) {
    this.#clock = clock
    this.clock = clock
    this.scheduler = new ClockScheduler(clock)
  }

  get now(): number {
    return this.#clock.now()
  }

  async advance(ms: number): Promise<void> {
    checkNumber('ms', ms, { min: 0 })
    const end = this.now + ms
    await this.#catchUp()
    for (let stop = this.#clock.nextStop; stop !== undefined && stop <= end; stop = this.#clock.nextStop) {
      this.#clock.moveTo(stop)
      await this.#catchUp()
    }
    this.#clock.moveTo(end)
    await this.#catchUp()
  }

  async until<T>(promise: PromiseLike<T>, { timeoutMs = 5_000 }: { timeoutMs?: number } = {}): Promise<T> {
    checkNumber('timeoutMs', timeoutMs, { min: 0, infinity: 'no limit' })
    let isSettled = false
    const settle = (): void => void (isSettled = true)
    promise.then(settle, settle)
    const isOver = await this.runUntil(() => Promise.resolve(isSettled), timeoutMs)
    if (!isOver)
      throw new Error(`After ${String(timeoutMs)} ms of real time the promise is not settled; ${this.#state}`)
    return promise
  }

  stall(ms: number): void {
    this.#clock.moveTo(this.now + checkNumber('ms', ms, { min: 0 }))
  }

  /** Moves on until something is true; tells whether it was, within so much real time. */
  async runUntil(isTrue: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
    const endsAt = realNow() + timeoutMs
    for (;;) {
      await this.#catchUp()
      if (await isTrue()) return true
      if (realNow() >= endsAt) return false
      const { nextStop } = this.#clock
      if (nextStop === undefined) await moment()
      else this.#clock.moveTo(nextStop)
    }
  }

  get #state(): string {
    const { nextStop } = this.#clock
    return nextStop === undefined
      ? 'nothing is due any more'
      : `the next thing is due at ${new Date(nextStop).toISOString()}`
  }

  /** Lets happen what is due by now, one after the other, each with all that comes of it. */
  async #catchUp(): Promise<void> {
    await this.#settle()
    for (let callback = this.#clock.takeDue(); callback !== undefined; callback = this.#clock.takeDue()) {
      callback()
      await this.#settle()
    }
  }

  /** Promises have had their turn when the loop has gone round. */
  async #settle(): Promise<void> {
    do await nextTurn()
    while (this.#clock.hasTurns)
  }
}
