import type { SchedulerLike } from 'rxjs'

import type { Clock } from '../time/clock.js'
import { ClockDriver } from './clockDriver.js'
import { VirtualClock } from './virtualClock.js'

/**
 * Where virtual time begins.
 *
 * @example
 * const options: VirtualTimeOptions = { startAt: new Date('2030-01-01') }
 */
export interface VirtualTimeOptions {
  /** The first instant. @default the present */
  startAt?: Date
}

/**
 * Time that moves only when it is told to. It jumps from one thing that is due to the next, and after each lets all
 * promises have their turn: hours cost milliseconds, and come out the same in each run, because there is no chance in it
 * either (jitter is none).
 *
 * It knows nothing of what is real: sockets, files, `setTimeout`, `Date.now`. A handler takes its times from its context,
 * and what a test has to wait for apart from that it awaits itself, before it moves time.
 *
 * @example
 * const time: VirtualTime = virtualTime({ startAt: new Date('2030-01-01') })
 * await time.advance(60_000)
 * console.log(new Date(time.now).toISOString()) // '2030-01-01T00:01:00.000Z'
 */
export interface VirtualTime {
  /** Epoch milliseconds. */
  readonly now: number
  /** For whatever takes time from a clock. */
  readonly clock: Clock
  /** The same for RxJS: `timer(60_000, time.scheduler)`. */
  readonly scheduler: SchedulerLike

  /**
   * Moves on by `ms` milliseconds, at least 0: whatever is due on the way happens at its time and in its order. Resolves
   * when it has happened.
   */
  advance(ms: number): Promise<void>

  /**
   * Moves on from one thing that is due to the next until a promise is settled, and answers what it answers. Rejects after
   * `timeoutMs` of real time, so that a test with a promise which is never settled ends.
   *
   * @param options.timeoutMs real milliseconds. @default 5_000
   */
  until<T>(promise: PromiseLike<T>, options?: { timeoutMs?: number }): Promise<T>

  /**
   * The event loop stands still for so long: the time is over when this returns, and nothing has happened in it. To be
   * called by a handler that blocks, for example; what was due is made up for when time moves on.
   */
  stall(ms: number): void
}

/**
 * Virtual time for a runner that is put together by hand; `createTestRunner({ virtualTime: true })` brings its own.
 *
 * @example
 * const time = virtualTime({ startAt: new Date('2030-01-01') })
 * const store = new MemoryTaskStore({ now: () => time.now })
 * const runner = new InProcessTaskRunner({ injector, bus, blobStore, telemetry, store }, { clock: time.clock })
 */
export const virtualTime = ({ startAt = new Date() }: VirtualTimeOptions = {}): VirtualTime =>
  new ClockDriver(new VirtualClock(startAt.getTime()))
