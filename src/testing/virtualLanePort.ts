import {
  asyncScheduler,
  concat,
  defer,
  ignoreElements,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
  timer,
} from 'rxjs'

import { InvalidOptionError } from '../errors/invalidOptionError.js'
import type { LanePort } from '../port/lanePort.js'
import { type LaneOperation, recordCalls, type RecordedCalls } from './portCalls.js'
import { readVirtually, sweepVirtually } from './virtualClaims.js'
import { virtualLanes, workerBell } from './virtualLanes.js'
import { listenVirtually, promoteVirtually, retireVirtually } from './virtualRound.js'
import { extendVirtually, settleVirtually } from './virtualSettling.js'
import { type VirtualState, virtualState } from './virtualState.js'

/** After how long a worker's bell is silent again that nobody has heard. */
const FORGOTTEN_MS = 60_000

/**
 * How a {@link virtualLanePort} behaves.
 *
 * @example
 * import { VirtualTimeScheduler } from 'rxjs'
 * virtualLanePort({ scheduler: new VirtualTimeScheduler(), latencyMs: 2 })
 */
export interface VirtualLanePortOptions {
  /** Its clock and its timers. Inside `TestScheduler.run` the default is virtual. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
  /** How long each reply is on its way, in milliseconds; 0: it comes within the subscribe. @default 0 */
  readonly latencyMs?: number
  /** How long an idempotency key belongs to its task, in seconds. @default 86_400 */
  readonly idempotencyTtlSec?: number
}

/**
 * The lanes of one prefix in memory, with a view on their state and ways to disturb them.
 *
 * @example
 * import { NEVER } from 'rxjs'
 * const port: VirtualLanePort = virtualLanePort()
 * port.failNext('settle', new Error('away'))
 * port.override({ listen: () => NEVER })
 */
export interface VirtualLanePort extends LanePort, RecordedCalls, VirtualState {
  /** Lets the next subscription to an operation error, without effect. Several calls fail as many subscriptions. */
  failNext(operation: LaneOperation, error: Error): void
  /** Puts marbles in the place of the given operations, until the next call; `{}` takes all of them away. */
  override(operations: Partial<LanePort>): void
}

/**
 * An in-memory model of the lanes in virtual time: streams with a group, pending entries, bells, the schedule, fleet caps
 * and idempotency leases behave as they do on a server, and time is that of the scheduler. Each operation is cold: its
 * effect happens when it is subscribed to, and stands even if nobody waits for the reply.
 *
 *     latencyMs 3   settle ^--(r|)     the entry is gone at ^
 *
 * All ports of a fleet are one: give the same port to several workers.
 *
 * @throws {InvalidOptionError} for a latency below 0
 *
 * @example
 * import { deepStrictEqual } from 'node:assert'
 * import { concatMap, map } from 'rxjs'
 * import { TestScheduler } from 'rxjs/testing'
 * new TestScheduler(deepStrictEqual).run(({ expectObservable }) => {
 *   const port = virtualLanePort()
 *   const lanes = [{ lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }]
 *   const request = { workerId: 'w', slots: ['w-slot-0'], lanes }
 *   const taken$ = port.enqueue({ taskId: 'a', lane: lane('mail', 1) }).pipe(
 *     concatMap(() => port.read(request)),
 *     map(({ claims }) => claims[0]?.taskId),
 *   )
 *   expectObservable(taken$).toBe('(a|)')
 * })
 */
export const virtualLanePort = (options: VirtualLanePortOptions = {}): VirtualLanePort => {
  const { scheduler = asyncScheduler, latencyMs = 0, idempotencyTtlSec = 86_400 } = options
  if (!(latencyMs >= 0)) throw new InvalidOptionError('latencyMs', latencyMs, 'a number of milliseconds from 0')
  const lanes = virtualLanes({ scheduler, latencyMs, idempotencyTtlSec })
  const failures = new Map<LaneOperation, Error[]>()

  function arriving<T>(reply$: Observable<T>): Observable<T> {
    return latencyMs === 0 ? reply$ : concat(timer(latencyMs, scheduler).pipe(ignoreElements()), reply$)
  }

  /** Answers with what the operation is planned to fail with, or else with what it does. */
  function attempt<T>(operation: LaneOperation, work: () => Observable<T>): Observable<T> {
    return defer(() => {
      const error = failures.get(operation)?.shift()
      return error ? arriving(throwError(() => error)) : work()
    })
  }

  function effect<T>(operation: LaneOperation, change: () => T): Observable<T> {
    return attempt(operation, () => {
      const reply = change()
      lanes.bells.serve()
      return arriving(of(reply))
    })
  }

  const model: LanePort = {
    read(request) {
      return effect('read', () => readVirtually(lanes, request))
    },
    sweep(request) {
      return effect('sweep', () => sweepVirtually(lanes, request))
    },
    listen(request) {
      return attempt('listen', () => listenVirtually(lanes, request))
    },
    wake(workerId) {
      return effect('wake', () => {
        lanes.bells.ring(workerBell(workerId), FORGOTTEN_MS)
      })
    },
    promote(request) {
      return effect('promote', () => promoteVirtually(lanes, request))
    },
    settle(claim, settlement) {
      return effect('settle', () => settleVirtually(lanes, claim, settlement))
    },
    extend(claims) {
      return effect('extend', () => claims.map((claim) => extendVirtually(lanes, claim)))
    },
    handBack(claims) {
      return effect('handBack', () => {
        for (const claim of claims) settleVirtually(lanes, claim, { kind: 'requeue' })
      })
    },
    enqueue({ taskId, lane, notBefore = 0 }) {
      return effect('enqueue', () => {
        if (notBefore > lanes.now()) lanes.park(lane, taskId, Math.ceil(notBefore))
        else lanes.enqueue(lane, taskId)
      })
    },
    knownLanes() {
      return effect('knownLanes', () => lanes.known())
    },
    retire(request) {
      return effect('retire', () => {
        retireVirtually(lanes, request)
      })
    },
    lease(input) {
      return effect('lease', () => lanes.leases.acquire(input))
    },
  }

  let current = model
  return {
    ...recordCalls(() => current),
    ...virtualState(lanes),
    failNext: (operation, error) => {
      failures.set(operation, [...(failures.get(operation) ?? []), error])
    },
    override: (operations) => {
      current = { ...model, ...operations }
    },
  }
}
