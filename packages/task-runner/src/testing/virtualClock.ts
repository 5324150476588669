import { DueQueue } from '../collections/dueQueue.js'
import type { Clock, TimerOptions } from '../time/clock.js'

type Callback = () => void

/** What is overdue for longer than this is taken for something that nobody looks for. */
const FORGOTTEN_MS = 600_000

/**
 * A clock that stands still until it is moved. Timers in the background only look whether there is something to do: to
 * stop for each of them would be to stop a million times in a week. Where there are sources to `watch`, they are passed
 * over unless one of those says that there is something.
 */
export class VirtualClock implements Clock {
  readonly #timers = new DueQueue<symbol, Callback>()
  readonly #background = new DueQueue<symbol, Callback>()
  readonly #sources: Array<() => number | undefined> = []
  readonly #startAt: number
  #time: number
  /** Callbacks that wait for their turn. */
  #turns = 0

  constructor(startAt: number) {
    this.#startAt = startAt
    this.#time = startAt
  }

  readonly now = (): number => this.#time
  readonly elapsed = (): number => this.#time - this.#startAt
  /** The middle, which makes no jitter. */
  readonly random = (): number => 0.5

  readonly setTimer = (callback: Callback, delayMs: number, { isBackground = false }: TimerOptions = {}): Callback => {
    const queue = isBackground ? this.#background : this.#timers
    const key = Symbol()
    if (delayMs !== Infinity) queue.set(key, callback, this.#time + Math.max(0, delayMs))
    return () => queue.delete(key)
  }

  readonly nextTurn = (callback: Callback): void => {
    this.#turns++
    setImmediate(() => {
      this.#turns--
      callback()
    })
  }

  get hasTurns(): boolean {
    return this.#turns > 0
  }

  /** `nextDue` answers when there will be something for the timers in the background to do. */
  watch(nextDue: () => number | undefined): void {
    this.#sources.push(nextDue)
  }

  /** When the clock has to stop next, `undefined` for never. */
  get nextStop(): number | undefined {
    const sources = this.#sources.map((nextDue) => this.#stopFor(nextDue()))
    const stops = [this.#timers.nextDue, ...(sources.length === 0 ? [this.#background.nextDue] : sources)]
    const next = Math.min(...stops.map((stop) => stop ?? Infinity))
    return next === Infinity ? undefined : Math.max(next, this.#time)
  }

  /** Moves on; never back. */
  moveTo(time: number): void {
    this.#time = Math.max(this.#time, time)
  }

  /** Takes out what is due first, if anything is. */
  takeDue(): Callback | undefined {
    const [timer = Infinity, background = Infinity] = [this.#timers.nextDue, this.#background.nextDue]
    return (background < timer ? this.#background : this.#timers).takeDue(this.#time)
  }

  /** What is due already waits for whoever looks next. */
  #stopFor(due: number | undefined): number | undefined {
    if (due === undefined || due > this.#time) return due
    return this.#time - due < FORGOTTEN_MS ? this.#background.nextDue : undefined
  }
}
