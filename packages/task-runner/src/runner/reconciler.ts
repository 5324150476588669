import type { StoredTask } from '../store/storedTask.js'
import type { MaintenanceJob, MaintenanceTurn } from './maintenanceJob.js'
import type { RunnerParts } from './runnerParts.js'
import type { Trouble } from './trouble.js'

const PAGE = 100
/** Younger marks belong to steps that are still under way. */
const OLDER_THAN_MS = 1_000
/** By then a step whose answer was lost has been taken, and is old enough to be found. */
const SETTLING_MS = 3_000

const dueOf = ({ task }: StoredTask): number | undefined => (task.notBefore ? Date.parse(task.notBefore) : undefined)

/**
 * Finds pending tasks without an entry in the queue, at the start and from time to time: a process died, or the queue
 * refused, between the two steps. Not needed where row and entry are one step.
 *
 * In front of a queue without memory all pending rows are marked, so they are looked through only when there is reason
 * to: at the start, and after trouble, when a step may have been taken whose answer nobody has seen.
 */
export class Reconciler implements MaintenanceJob {
  readonly name = 'reconcile'
  readonly immediately = true
  readonly intervalMs: number
  /** What a queue without memory holds is known to its own process only. */
  readonly isLocal: boolean
  /** Whatever trouble came before has been seen to; by the monotonic clock. */
  #clearUntil = -Infinity

  constructor(
    private readonly parts: Pick<RunnerParts, 'adapter' | 'store' | 'dispatcher' | 'settings' | 'clock'>,
    private readonly trouble: Trouble,
  ) {
    this.intervalMs = parts.settings.reconcilerIntervalMs
    this.isLocal = !parts.adapter.capabilities.persistent
  }

  async run(turn: MaintenanceTurn): Promise<void> {
    if (!this.isLocal) return this.#dispatchMarked(turn)
    if (this.trouble.lastAt < this.#clearUntil) return
    const beganAt = this.parts.clock.elapsed()
    await this.#dispatchMissing(this.#clearUntil === -Infinity ? 0 : OLDER_THAN_MS)
    // What came later may have been too young to be seen, or on its way still.
    this.#clearUntil = beganAt - SETTLING_MS
  }

  async #dispatchMarked(turn: MaintenanceTurn): Promise<void> {
    const seen = new Set<string>()
    do {
      const found = await this.parts.store.findUnqueued({ olderThanMs: OLDER_THAN_MS, limit: PAGE })
      // The same rows again: the marks do not come off, which has been reported.
      if (!(await this.#dispatchUnseen(found, seen)) || found.length < PAGE) return
    } while (await turn.keep())
  }

  /** The marks stay, so each page is larger. */
  async #dispatchMissing(olderThanMs: number): Promise<void> {
    const seen = new Set<string>()
    for (let limit = PAGE; ; limit *= 2) {
      const found = await this.parts.store.findUnqueued({ olderThanMs, limit })
      await this.#dispatchUnseen(found, seen)
      if (found.length < limit) return
    }
  }

  async #dispatchUnseen(found: StoredTask[], seen: Set<string>): Promise<boolean> {
    const { adapter, dispatcher } = this.parts
    const unseen = found.filter(({ task }) => !seen.has(task.id))
    for (const stored of unseen) {
      const { id, attempts } = stored.task
      if (adapter.holds?.(id) !== true) await dispatcher.dispatch(stored.task, attempts.length, dueOf(stored))
      seen.add(id)
    }
    return unseen.length > 0
  }
}
