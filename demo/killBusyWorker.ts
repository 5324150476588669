import type { Fleet, FleetWorker } from './fleet.js'
import { heldBy } from './laneState.js'
import type { DemoRedis } from './openRedis.js'

/** A worker that was killed, and the tasks that it had in hand. */
export interface Loss {
  readonly worker: FleetWorker
  readonly workerId: string
  /** When it stood still; epoch milliseconds by the clock of Redis. */
  readonly at: number
  readonly taskIds: readonly string[]
}

const busySlots = ({ state, slots }: FleetWorker): number =>
  state === 'working' ? slots.filter((slot) => slot !== undefined).length : 0

/**
 * Kills the busiest worker with SIGKILL, which no process can prepare for. It is held by SIGSTOP for a moment before, so
 * that Redis can be asked what it has in hand; `undefined` if that was nothing, and then the worker goes on.
 */
export const killBusyWorker = async (fleet: Fleet, redis: DemoRedis): Promise<Loss | undefined> => {
  const [worker] = fleet.workers.toSorted((a, b) => busySlots(b) - busySlots(a))
  if (worker?.workerId === undefined || busySlots(worker) === 0) return undefined
  const { workerId } = worker
  worker.process.kill('SIGSTOP')
  try {
    const at = Date.now() + redis.clockAheadMs
    const taskIds = await heldBy(redis.client, redis.prefix, workerId)
    if (taskIds.length === 0) return undefined
    await fleet.kill(worker)
    return { worker, workerId, at, taskIds }
  } finally {
    worker.process.kill('SIGCONT')
  }
}
