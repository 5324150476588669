import { type SchedulerLike, VirtualTimeScheduler } from 'rxjs'

/** Time that passes when the test says so and not otherwise, for whatever takes its timers from the scheduler. */
export interface SteppedTime {
  readonly scheduler: SchedulerLike
  /** Lets so many milliseconds pass, with all that is due in them. */
  readonly pass: (ms: number) => void
}

export const steppedTime = (): SteppedTime => {
  const scheduler = new VirtualTimeScheduler(undefined, 0)
  return {
    scheduler,
    pass: (ms) => {
      scheduler.maxFrames += ms
      scheduler.flush()
      scheduler.frame = scheduler.maxFrames
    },
  }
}
