import {
  asapScheduler,
  asyncScheduler,
  defer,
  EMPTY,
  type Observable,
  repeat,
  type SchedulerLike,
  take,
  timer,
} from 'rxjs'

import type { Bell, LanePort, LaneReading } from '../port/lanePort.js'

/**
 * How {@link idle} waits.
 *
 * @example
 * const options: IdleOptions = { lanes: () => lanes, blockMs: 200, lookAgainMs: () => 1_000 }
 */
export interface IdleOptions {
  /** Asked before each listening. */
  readonly lanes: () => readonly LaneReading[]
  /** How long one listening lasts, in milliseconds. */
  readonly blockMs: number
  /** How long to wait at most before looking again without having been called, in milliseconds. */
  readonly lookAgainMs: () => number
  /** Whether to listen for the schedule's bell too. @default never */
  readonly schedule?: () => boolean
  /** Its clock. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
}

/**
 * Waits until a bell rings, or until it is time to look again anyway. Listens in turns of `blockMs`, without reading the
 * lanes in between.
 *
 *     listen   ---|  ---|  -x|
 *     emits    --------------x|
 *
 * Subscribe: one listening at a time.  Emits: the bell, if one rang.  Completes: with it, or when the time is over.
 * Errors: {@link LaneError}.  Unsubscribe: stops waiting; a bell that rings afterwards is rung again.
 *
 * @example
 * const wait$ = idle(port, { lanes: () => lanes, blockMs: 200, lookAgainMs: () => 1000 })
 */
export function idle(port: LanePort, options: IdleOptions): Observable<Bell> {
  const { lanes, blockMs, lookAgainMs, schedule = () => false, scheduler = asyncScheduler } = options
  return defer(() => {
    const endAt = scheduler.now() + Math.max(1, lookAgainMs())
    const leftMs = (): number => endAt - scheduler.now()
    return defer(() =>
      port.listen({
        lanes: lanes(),
        schedule: schedule(),
        blockMs: Math.max(1, Math.min(blockMs, Math.ceil(leftMs()))),
      }),
    ).pipe(repeat({ delay: () => (leftMs() > 0 ? timer(0, asapScheduler) : EMPTY) }), take(1))
  })
}
