import { defer, filter, ignoreElements, type Observable, type SchedulerLike, startWith, Subject, take } from 'rxjs'
import type { Outgoing } from './outgoing.js'

/** How much may wait while Redis takes nothing. */
export type OutboxLimits = {
  readonly maxMessages: number
  readonly maxBytes: number
  readonly maxAgeMs: number
}

/** What goes out together, at most, so that nothing else has to wait long behind it. */
const BATCH_MESSAGES = 512
const BATCH_BYTES = 1_048_576
/** After so long (milliseconds) without any answer Redis counts as taking nothing. */
const STALLED_AFTER_MS = 1_000

/**
 * Messages that wait to be sent, oldest first. As long as Redis takes them there may be any number, for that is the haste
 * of the caller; while it does not, their number, size and age are limited, and the oldest go first.
 */
export class Outbox {
  readonly #limits: OutboxLimits
  readonly #scheduler: SchedulerLike
  readonly #changes$ = new Subject<void>()
  #waiting: Outgoing[] = []
  #bytes = 0
  #onItsWay = 0
  #isOnline = false
  #isClosed = false
  #lastProgress = 0

  constructor(limits: OutboxLimits, scheduler: SchedulerLike) {
    this.#limits = limits
    this.#scheduler = scheduler
  }

  /** Emits once as soon as there is something to send, and completes. */
  readonly filled$: Observable<void> = this.#when(() => this.#waiting.length > 0)

  /** Completes as soon as there is nothing to send and nothing on its way. */
  readonly emptied$: Observable<never> = this.#when(() => this.#isEmpty).pipe(ignoreElements())

  /** Tells whether there is a connection. */
  set isOnline(isOnline: boolean) {
    this.#isOnline = isOnline
    this.#lastProgress = this.#scheduler.now()
    if (!isOnline) this.#trim()
  }

  add(message: Outgoing): void {
    if (this.#isEmpty) this.#lastProgress = this.#scheduler.now()
    this.#waiting.push(message)
    this.#bytes += message.byteLength
    if (!this.#isOnline || this.#scheduler.now() - this.#lastProgress > STALLED_AFTER_MS) this.#trim()
    this.#changes$.next()
  }

  /** What is to be sent next. Its outcome has to be told to {@link settled} before more is taken. */
  take(): readonly Outgoing[] {
    let count = 0
    let bytes = 0
    for (const { byteLength } of this.#waiting) {
      if (count === BATCH_MESSAGES || (count > 0 && bytes + byteLength > BATCH_BYTES)) break
      count++
      bytes += byteLength
    }
    this.#onItsWay = count
    this.#bytes -= bytes
    return this.#waiting.splice(0, count)
  }

  /** What was taken has found its end, but for those that have to be sent again. */
  settled(again: readonly Outgoing[]): void {
    if (again.length < this.#onItsWay) this.#lastProgress = this.#scheduler.now()
    this.#onItsWay = 0
    this.#waiting.unshift(...again)
    for (const { byteLength } of again) this.#bytes += byteLength
    if (this.#isClosed) this.close()
    else this.#changes$.next()
  }

  /** Gives up what has waited for too long. */
  expire(): void {
    const limit = this.#scheduler.now() - this.#limits.maxAgeMs
    while (this.#waiting[0] && this.#waiting[0].since <= limit) this.#shift()?.fail('expired')
  }

  /** Gives up everything that waits, and what is on its way if it should come back: the bus has ended. */
  close(): void {
    this.#isClosed = true
    while (this.#waiting.length > 0) this.#shift()?.abort()
    this.#changes$.next()
  }

  get #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#onItsWay === 0
  }

  #trim(): void {
    const { maxMessages, maxBytes } = this.#limits
    // The latest stays, whatever its size.
    while (this.#waiting.length > 1 && (this.#waiting.length > maxMessages || this.#bytes > maxBytes)) {
      this.#shift()?.fail('dropped')
    }
  }

  #shift(): Outgoing | undefined {
    const oldest = this.#waiting.shift()
    this.#bytes -= oldest?.byteLength ?? 0
    return oldest
  }

  #when(condition: () => boolean): Observable<void> {
    return defer(() => this.#changes$.pipe(startWith(undefined), filter(condition), take(1)))
  }
}
