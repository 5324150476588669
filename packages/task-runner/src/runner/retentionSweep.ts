import type { MaintenanceJob, MaintenanceTurn } from './maintenanceJob.js'
import type { RunnerParts } from './runnerParts.js'

const PAGE = 100

/** Removes what is left of tasks that have been over for as long as their policies keep them. */
export class RetentionSweep implements MaintenanceJob {
  readonly name = 'retention'
  readonly intervalMs: number

  constructor(private readonly parts: RunnerParts) {
    this.intervalMs = parts.settings.maintenanceIntervalMs
  }

  async run(turn: MaintenanceTurn): Promise<void> {
    while ((await this.parts.store.removeExpired({ limit: PAGE })).hasMore && (await turn.keep())) continue
  }
}
