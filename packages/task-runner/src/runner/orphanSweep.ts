import type { MaintenanceJob, MaintenanceTurn } from './maintenanceJob.js'
import type { RunnerParts } from './runnerParts.js'

const PAGE = 100
/** Younger marks belong to reapings that are still under way. */
const OLDER_THAN_MS = 2_000

/** Cancels children that have outlived their parent, because the process that ended it died before it could. */
export class OrphanSweep implements MaintenanceJob {
  readonly name = 'orphans'
  readonly intervalMs: number

  constructor(private readonly parts: RunnerParts) {
    this.intervalMs = parts.settings.maintenanceIntervalMs
  }

  async run(turn: MaintenanceTurn): Promise<void> {
    const seen = new Set<string>()
    do {
      const found = await this.parts.store.findOrphaned({ olderThanMs: OLDER_THAN_MS, limit: PAGE })
      const unseen = found.filter(({ parentId }) => !seen.has(parentId))
      for (const { parentId, status } of unseen) {
        await this.parts.reapOrphans(parentId, status)
        seen.add(parentId)
      }
      // The same ones again: they cannot be reaped now, which has been reported.
      if (unseen.length === 0 || found.length < PAGE) return
    } while (await turn.keep())
  }
}
