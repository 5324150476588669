import type { ExpiredTask, StoredTask } from '../store/storedTask.js'
import type { MaintenanceJob, MaintenanceTurn } from './maintenanceJob.js'
import type { RunnerParts } from './runnerParts.js'
import { tellParent } from './tellParent.js'

const PAGE = 100

/**
 * Ends leases that have run out, where the queue does not do so: what was running is queued again, what was to be
 * cancelled is. `onExpired` hears of each, to stop the run if it is in this process.
 */
export class LeaseSweep implements MaintenanceJob {
  readonly name = 'sweep'
  readonly intervalMs: number

  constructor(
    private readonly parts: RunnerParts,
    private readonly onExpired: (stored: StoredTask) => void,
  ) {
    this.intervalMs = parts.settings.sweepIntervalMs
  }

  async run(turn: MaintenanceTurn): Promise<void> {
    do {
      const expired = await this.parts.store.expireAttempts({ limit: PAGE })
      for (const stored of expired) await this.#expire(stored)
      if (expired.length < PAGE) return
    } while (await turn.keep())
  }

  async #expire(stored: ExpiredTask): Promise<void> {
    const { task, cancelReason, openChildren, parent } = stored
    this.onExpired(stored)
    const at = Date.parse(
      task.attempts.at(-1)?.finishedAt ?? task.terminalAt ?? new Date(this.parts.clock.now()).toISOString(),
    )
    this.parts.updates.status(task.type, task.id, task.status, at, cancelReason)
    if (task.status === 'pending') return this.parts.dispatcher.tryDispatch(task, task.attempts.length)
    this.parts.telemetry.emit('onTaskCancelled', { taskId: task.id, type: task.type })
    if (openChildren !== undefined) await this.parts.reapOrphans(task.id, 'cancelled')
    await tellParent(this.parts, { taskId: task.id, status: 'cancelled', at }, parent)
  }
}
