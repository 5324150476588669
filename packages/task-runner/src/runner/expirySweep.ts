import { announceFailure } from './announceFailure.js'
import type { MaintenanceJob, MaintenanceTurn } from './maintenanceJob.js'
import type { RunnerParts } from './runnerParts.js'

const PAGE = 100

/** Fails tasks that were to have begun by now, and that no worker has looked at since. */
export class ExpirySweep implements MaintenanceJob {
  readonly name = 'expire'
  readonly intervalMs: number

  constructor(private readonly parts: RunnerParts) {
    this.intervalMs = parts.settings.expiryIntervalMs
  }

  async run(turn: MaintenanceTurn): Promise<void> {
    const { joint, store } = this.parts
    do {
      const failed = await (joint ?? store).expireTasks({ limit: PAGE })
      for (const task of failed) await announceFailure(this.parts, task)
      if (failed.length < PAGE) return
    } while (await turn.keep())
  }
}
