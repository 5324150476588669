import type { StoredTask } from '../store/storedTask.js'
import type { MaintenanceJob, MaintenanceTurn } from './maintenanceJob.js'
import type { RunnerParts } from './runnerParts.js'

const PAGE = 100
/** Younger marks belong to steps that are still under way. */
const OLDER_THAN_MS = 1_000

const dueOf = ({ task }: StoredTask): number | undefined => (task.notBefore ? Date.parse(task.notBefore) : undefined)

/**
 * Finds pending tasks without an entry in the queue, at the start and from time to time: a process died, or the queue
 * refused, between the two steps. Not needed where row and entry are one step.
 */
export class Reconciler implements MaintenanceJob {
  readonly name = 'reconcile'
  readonly immediately = true
  readonly intervalMs: number
  /** What a queue without memory holds is known to its own process only. */
  readonly isLocal: boolean
  #isFirst = true

  constructor(private readonly parts: RunnerParts) {
    this.intervalMs = parts.settings.reconcilerIntervalMs
    this.isLocal = !parts.adapter.capabilities.persistent
    if (Number.isFinite(this.intervalMs) && this.isLocal) parts.dispatcher.rememberEarly()
  }

  async run(turn: MaintenanceTurn): Promise<void> {
    if (!this.isLocal) return this.#dispatchMarked(turn)
    if (this.#isFirst) await this.#dispatchAll()
    this.#isFirst = false
    await this.#dispatchRefused()
  }

  async #dispatchMarked(turn: MaintenanceTurn): Promise<void> {
    const seen = new Set<string>()
    do {
      const found = await this.parts.store.findUnqueued({ olderThanMs: OLDER_THAN_MS, limit: PAGE })
      // The same rows again: the marks do not come off, which has been reported.
      if (!(await this.#dispatchUnseen(found, seen)) || found.length < PAGE) return
    } while (await turn.keep())
  }

  /**
   * For a queue without memory, in which nothing is when the process starts: all that was pending before. The marks
   * stay, so each page is larger.
   */
  async #dispatchAll(): Promise<void> {
    const seen = this.parts.dispatcher.rememberEarly()
    for (let limit = PAGE; ; limit *= 2) {
      const found = await this.parts.store.findUnqueued({ olderThanMs: 0, limit })
      await this.#dispatchUnseen(found, seen)
      if (found.length < limit) return this.parts.dispatcher.forgetEarly()
    }
  }

  async #dispatchUnseen(found: StoredTask[], seen: Set<string>): Promise<boolean> {
    const unseen = found.filter(({ task }) => !seen.has(task.id))
    for (const stored of unseen) {
      await this.parts.dispatcher.dispatch(stored.task, dueOf(stored))
      seen.add(stored.task.id)
    }
    return unseen.length > 0
  }

  async #dispatchRefused(): Promise<void> {
    const refused = this.parts.dispatcher.takeRefused()
    if (refused.length === 0) return
    for (const stored of await this.parts.store.getMany(refused)) {
      if (stored?.task.status === 'pending') await this.parts.dispatcher.tryDispatch(stored.task, dueOf(stored))
    }
  }
}
