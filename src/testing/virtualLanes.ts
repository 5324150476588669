import type { SchedulerLike } from 'rxjs'

import { keys } from '../keys/keys.js'
import type { Lane } from '../keys/lane.js'
import { type VirtualBells, virtualBells } from './virtualBells.js'
import { type VirtualCaps, virtualCaps } from './virtualCaps.js'
import { type VirtualLeases, virtualLeases } from './virtualLeases.js'
import { type VirtualSchedule, virtualSchedule } from './virtualSchedule.js'
import { type VirtualStream, virtualStream } from './virtualStream.js'

/** Clock, delay of bells, and how long leases last. */
export interface VirtualLanesOptions {
  readonly scheduler: SchedulerLike
  readonly latencyMs: number
  readonly idempotencyTtlSec: number
}

/** Everything that a server keeps for the lanes of one prefix. */
export interface VirtualLanes {
  now(): number
  readonly bells: VirtualBells
  readonly caps: VirtualCaps
  readonly schedule: VirtualSchedule
  /** Names of paused lanes, `*` for the fleet. */
  readonly paused: Set<string>
  readonly leases: VirtualLeases
  /** The lanes that have ever been written to, or read. */
  known(): readonly Lane[]
  /** The stream of a lane, if there is one. */
  find(lane: Lane): VirtualStream | undefined
  /** The stream of a lane; made and registered if there is none. */
  stream(lane: Lane): VirtualStream
  /** Puts a task into its lane and rings. */
  enqueue(lane: Lane, taskId: string): void
  /** Schedules a task; rings if it is the earliest now. */
  park(lane: Lane, taskId: string, dueAt: number): void
}

const names = keys('')

/** Rung when the schedule has a new earliest entry. */
export const { scheduleBell } = names

/** Rung when a lane may have something to read. */
export const laneBell = (lane: Lane): string => names.bell(lane)

/** Rung when a place under a type's cap is freed. */
export const capBell = (type: string): string => names.capBell(type)

/** Rung to end the wait of a worker. */
export const workerBell = (workerId: string): string => names.workerBell(workerId)

/** A server on which nothing has happened yet. */
export const virtualLanes = ({ scheduler, latencyMs, idempotencyTtlSec }: VirtualLanesOptions): VirtualLanes => {
  const now = (): number => scheduler.now()
  const bells = virtualBells(scheduler, latencyMs)
  const schedule = virtualSchedule(now)
  const streams = new Map<string, { readonly lane: Lane; readonly stream: VirtualStream }>()

  const stream = (lane: Lane): VirtualStream => {
    const found = streams.get(lane.name)
    if (found) return found.stream
    const made = virtualStream(lane, now)
    streams.set(lane.name, { lane, stream: made })
    return made
  }

  return {
    now,
    bells,
    schedule,
    caps: virtualCaps(now),
    paused: new Set(),
    leases: virtualLeases(now, idempotencyTtlSec),
    known: () => [...streams.values()].map(({ lane }) => lane),
    find: (lane) => streams.get(lane.name)?.stream,
    stream,
    enqueue: (lane, taskId) => {
      stream(lane).append(taskId)
      bells.ring(laneBell(lane))
    },
    park: (lane, taskId, dueAt) => {
      if (schedule.park({ lane, taskId }, dueAt)) bells.ring(scheduleBell)
    },
  }
}
