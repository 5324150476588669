import { asyncScheduler, concat, defer, EMPTY, ignoreElements, type SchedulerLike, tap } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Report } from '../events/laneEvent.js'
import type { LanePort, LaneReading, SweepReply } from '../port/lanePort.js'
import type { ClaimSource } from './claimSource.js'
import { deliverClaims } from './deliverClaims.js'
import { reportSetAside } from './reportSetAside.js'

/**
 * How {@link sweepStale} sweeps.
 *
 * @example
 * const options: SweepStaleOptions = { workerId: 'w', lanes: () => lanes, minIntervalMs: 100 }
 */
export interface SweepStaleOptions {
  /** Who sweeps. */
  readonly workerId: string
  /** Asked before each sweep. */
  readonly lanes: () => readonly LaneReading[]
  /** What this worker works on: left alone, however long nothing was heard of it. @default nothing */
  readonly working?: Iterable<Claim>
  /** The least time between two sweeps that found less than they were asked for, in milliseconds. @default 100 */
  readonly minIntervalMs?: number
  /** Its clock. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
  /** Told of what was taken over or set aside. @default nobody */
  readonly report?: Report
}

/**
 * A source that also tells when it next has something to do.
 *
 * @example
 * const sweep: SweepStale = sweepStale(port, { workerId: 'w', lanes: () => lanes })
 * console.log(`worth asking in ${sweep.dueInMs()} ms`)
 */
export interface SweepStale {
  /** Asks Redis only when something can be stale. */
  readonly source: ClaimSource
  /** Milliseconds until the next sweep is due; 0: now. */
  dueInMs(): number
  /** A read of this worker was not answered: a sweep is due now, and claims what that read may have claimed. */
  lookBack(): void
}

/**
 * Claims entries that their owners have let idle for longer than the lane's visibility. Each sweep learns when the next
 * entry could become stale, and until then the source completes at once without asking Redis: a fleet that is well costs
 * a few sweeps a visibility period, and a dead worker's claims are found the moment they may be.
 *
 * What the worker itself may have claimed without learning of it, as the connection was lost, it finds at once. Its wait may
 * still be open on the server, so it is ended first.
 *
 *     demand 2   ^--(ab|)    two stale entries
 *     demand 2   ^--|        none
 *     demand 2   (^|)        nothing can be stale yet
 *     demand 2   ^--#        the server refused
 *
 * Subscribe: at most one round trip.  Emits: claims, oldest first within a lane.  Completes: after the reply.
 * Errors: {@link LaneError}.  Unsubscribe: the reply is still read and its claims handed back.
 * Scheduler: its clock.  Buffers: nothing.
 *
 * @example
 * const sweep = sweepStale(port, { workerId: 'w', lanes: () => lanes })
 * const claims = sweepThenRead(sweep.source, readNew(port, { workerId: 'w', lanes: () => lanes }))
 */
export function sweepStale(port: LanePort, options: SweepStaleOptions): SweepStale {
  const { workerId, lanes, working, minIntervalMs = 100, scheduler = asyncScheduler, report } = options
  let positions: ReadonlyMap<string, string> | undefined
  let dueAt = 0
  /** Over a walk that takes several sweeps. */
  let soonestAt = Infinity

  let isUnanswered = false

  const dueInMs = (): number => (isUnanswered ? 0 : Math.max(0, dueAt - scheduler.now()))
  const source: ClaimSource = (slots) =>
    defer(() => {
      if (dueInMs() > 0) return EMPTY
      // Also after a failure: a Redis that is away must not be asked at the speed of the loop.
      dueAt = scheduler.now() + minIntervalMs
      const isLookingBack = isUnanswered
      const request = {
        workerId,
        slots,
        lanes: lanes(),
        ...(positions && { positions }),
        ...(working && { working }),
        ...(isLookingBack && { isUnanswered }),
      }
      const reply$ = port.sweep(request).pipe(
        tap((reply) => {
          positions = reply.positions
          reportSetAside(reply, report)
          const now = scheduler.now()
          soonestAt = Math.min(soonestAt, now + reply.nextStaleMs)
          // Where the slots were the limit, the next free one is for the next stale claim.
          const isCutShort = reply.nextStaleMs === 0 && reply.claims.length >= slots.length
          dueAt = isCutShort ? now : now + minIntervalMs
          if (!isCutShort && isWalkedThrough(reply)) dueAt = Math.max(dueAt, soonestAt)
          if (isWalkedThrough(reply)) soonestAt = Infinity
          if (isLookingBack && isWalkedThrough(reply) && !isCutShort) isUnanswered = false
        }),
      )
      const ended$ = isLookingBack ? port.wake(workerId).pipe(ignoreElements()) : EMPTY
      return deliverClaims(port, concat(ended$, reply$), report)
    })
  const lookBack = (): void => {
    isUnanswered = true
    positions = undefined
  }
  return { source, dueInMs, lookBack }
}

const isWalkedThrough = ({ positions }: SweepReply): boolean =>
  [...positions.values()].every((position) => position === '-')
