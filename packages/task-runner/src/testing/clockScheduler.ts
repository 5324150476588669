import { Subscription, type SchedulerAction, type SchedulerLike } from 'rxjs'

import type { Clock } from '../time/clock.js'

type Work<T> = (this: SchedulerAction<T>, state?: T) => void

/** A clock as RxJS takes it. */
export class ClockScheduler implements SchedulerLike {
  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now()
  }

  schedule<T>(work: Work<T>, delayMs = 0, state?: T): Subscription {
    return new ClockAction(this.clock, work).schedule(state, delayMs)
  }
}

/** Work that may ask to be done again. */
class ClockAction<T> extends Subscription implements SchedulerAction<T> {
  #cancel: (() => void) | undefined

  constructor(
    private readonly clock: Clock,
    private readonly work: Work<T>,
  ) {
    super(() => this.#cancel?.())
  }

  schedule(state?: T, delayMs = 0): Subscription {
    this.#cancel?.()
    if (!this.closed) this.#cancel = this.clock.setTimer(() => this.work(state), delayMs)
    return this
  }
}
