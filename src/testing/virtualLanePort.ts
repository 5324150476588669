import {
  asyncScheduler,
  concat,
  defer,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
  timer,
} from 'rxjs'

import type { Lane } from '../keys/lane.js'
import type { Bell, LanePort, ListenRequest } from '../port/lanePort.js'
import { type LaneOperation, recordCalls, type RecordedCalls } from './portCalls.js'
import { readVirtually, sweepVirtually } from './virtualClaims.js'
import { capBell, laneBell, scheduleBell, type VirtualLanes, virtualLanes } from './virtualLanes.js'
import type { ParkedEntry } from './virtualSchedule.js'
import { extendVirtually, settleVirtually } from './virtualSettling.js'
import type { PendingEntry } from './virtualStream.js'

/** How a {@link virtualLanePort} behaves. */
export interface VirtualLanePortOptions {
  /** Its clock and its timers. Inside `TestScheduler.run` the default is virtual. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
  /** How long each reply is on its way, in milliseconds; 0: it comes within the subscribe. @default 0 */
  readonly latencyMs?: number
  /** @default 86_400 */
  readonly idempotencyTtlSec?: number
}

/** The lanes of one prefix in memory, with a view on their state and ways to disturb them. */
export interface VirtualLanePort extends LanePort, RecordedCalls {
  /** What was delivered and not yet settled, by lane, oldest first. */
  pending(lane?: Lane): readonly PendingEntry[]
  /** How many entries a lane has, delivered or not. */
  length(lane: Lane): number
  /** Parked tasks, earliest first. */
  parked(): readonly ParkedEntry[]
  consumers(lane: Lane): readonly string[]
  /** How many claims of a type hold a place under its cap. */
  holders(type: string): number
  promoter(): string | undefined
  /** Pauses a lane, or the fleet. */
  pause(lane?: Lane): void
  resume(lane?: Lane): void
  /** Loses a lane's group with all that is pending, as `XGROUP DESTROY` does. */
  destroyGroup(lane: Lane): void
  /** Deletes an entry that may be pending, as `XDEL` does. */
  deleteEntry(lane: Lane, entryId: string): void
  /** Lets the next subscription to an operation error, without effect. Several calls fail as many subscriptions. */
  failNext(operation: LaneOperation, error: unknown): void
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
 * @example
 * new TestScheduler(assertDeepEqual).run(({ expectObservable }) => {
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
  if (!(latencyMs >= 0)) throw new RangeError(`latencyMs: ${String(latencyMs)} is not a number of milliseconds from 0`)
  const lanes = virtualLanes(scheduler, latencyMs)
  const failures = new Map<LaneOperation, unknown[]>()

  const arriving = <T>(reply$: Observable<T>): Observable<T> =>
    latencyMs === 0 ? reply$ : concat(timer(latencyMs, scheduler).pipe(ignoreElements()), reply$)
  const failing = <T>(operation: LaneOperation, reply: () => Observable<T>): Observable<T> =>
    defer(() => {
      const planned = failures.get(operation) ?? []
      if (planned.length === 0) return reply()
      const error = planned.shift()
      return arriving(throwError(() => error))
    })
  const step = <T>(operation: LaneOperation, effect: () => T): Observable<T> =>
    failing(operation, () => {
      const reply = effect()
      lanes.bells.serve()
      return arriving(of(reply))
    })

  const model: LanePort = {
    read: (request) => step('read', () => readVirtually(lanes, request)),
    sweep: (request) => step('sweep', () => sweepVirtually(lanes, request)),
    listen: (request) => failing('listen', () => listenVirtually(lanes, request)),
    promote: (request) =>
      step('promote', () => {
        const reply = lanes.schedule.promote(request, ({ lane, taskId }) => {
          lanes.enqueue(lane, taskId)
        })
        return { ...reply, knownLanes: lanes.known().length }
      }),
    settle: (claim, settlement) => step('settle', () => settleVirtually(lanes, claim, settlement)),
    extend: (claims) => step('extend', () => claims.map((claim) => extendVirtually(lanes, claim))),
    handBack: (claims) =>
      step('handBack', () => {
        for (const claim of claims) settleVirtually(lanes, claim, { kind: 'requeue' })
      }),
    enqueue: ({ taskId, lane, notBefore = 0 }) =>
      step('enqueue', () => {
        if (notBefore > lanes.now()) lanes.park(lane, taskId, Math.ceil(notBefore))
        else lanes.enqueue(lane, taskId)
      }),
    knownLanes: () => step('knownLanes', lanes.known),
    retire: ({ workerId, slots, lanes: of, goneMs }) =>
      step('retire', () => {
        for (const lane of of) retireVirtually(lanes, lane, slots, goneMs)
        if (workerId !== undefined) lanes.schedule.giveBackRole(workerId)
      }),
    lease: ({ type, key, taskId }) =>
      step('lease', () => {
        const name = JSON.stringify([type, key])
        const held = lanes.leases.get(name)
        if (held && held.endsAt > lanes.now()) return held.taskId
        lanes.leases.set(name, { taskId, endsAt: lanes.now() + idempotencyTtlSec * 1_000 })
        return taskId
      }),
  }

  let current = model
  return {
    ...recordCalls(() => current),
    pending: (lane) => (lane ? [lane] : lanes.known()).flatMap((each) => lanes.find(each)?.pending() ?? []),
    length: (lane) => lanes.find(lane)?.length() ?? 0,
    parked: lanes.schedule.parked,
    consumers: (lane) => [...(lanes.find(lane)?.consumers().keys() ?? [])],
    holders: lanes.caps.count,
    promoter: lanes.schedule.promoter,
    pause: (lane) => lanes.paused.add(lane?.name ?? '*'),
    resume: (lane) => lanes.paused.delete(lane?.name ?? '*'),
    destroyGroup: (lane) => lanes.find(lane)?.destroyGroup(),
    deleteEntry: (lane, entryId) => lanes.find(lane)?.deleteEntry(entryId),
    failNext: (operation, error) => failures.set(operation, [...(failures.get(operation) ?? []), error]),
    override: (operations) => {
      current = { ...model, ...operations }
    },
  }
}

const listenVirtually = ({ bells }: VirtualLanes, { lanes, schedule, blockMs }: ListenRequest): Observable<Bell> => {
  const names = new Set(schedule ? [scheduleBell] : [])
  for (const { lane, cap } of lanes) {
    names.add(laneBell(lane))
    if (cap !== undefined) names.add(capBell(lane.type))
  }
  return bells.listen([...names], blockMs).pipe(map((bell) => (bell === scheduleBell ? 'schedule' : 'lanes')))
}

/** Removes consumers without pending entries: the given ones, and those gone for long. */
const retireVirtually = (lanes: VirtualLanes, lane: Lane, slots: readonly string[], goneMs: number): void => {
  const stream = lanes.find(lane)
  if (!stream) return
  const owners = new Set(stream.pending().map(({ consumer }) => consumer))
  for (const [consumer, seenAt] of stream.consumers()) {
    const isGone = goneMs > 0 && lanes.now() - seenAt > goneMs
    if (!owners.has(consumer) && (slots.includes(consumer) || isGone)) stream.removeConsumer(consumer)
  }
}
