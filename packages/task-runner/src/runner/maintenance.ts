import { randomUUID } from 'node:crypto'

import type { TaskStore } from '../store/taskStore.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { Clock } from '../time/clock.js'
import { Periodic } from '../time/periodic.js'
import { systemClock } from '../time/systemClock.js'
import { withinMs } from '../time/withinMs.js'
import type { MaintenanceJob, MaintenanceTurn } from './maintenanceJob.js'
import { RoleLease } from './roleLease.js'

/** What a {@link Maintenance} works with. */
export interface MaintenanceOptions {
  /** Knows which process has which role. */
  readonly store: Pick<TaskStore, 'lead' | 'resign'>
  readonly report: ReportError
  /** How long a disposal waits for the turns that are under way. @default 5_000 */
  readonly closeTimeoutMs?: number
  /** @default the system's */
  readonly clock?: Clock
}

/**
 * The periodic work of a runner. Each job is done by one process at a time, once an interval over all of them: each asks
 * for the job's role once an interval, and the role is held until shortly before the next is due, so whoever asks first
 * then has the next turn. A process that dies leaves no gap longer than an interval.
 *
 * A job never overlaps with itself. One that fails is reported, and comes again after its interval. Disposal stops
 * asking, waits for the turns under way, and gives the roles back, so that another process can take them at once.
 *
 * @example
 * const maintenance = new Maintenance({ store, report: console.error })
 * maintenance.add({ name: 'retention', intervalMs: 30_000, run: async ({ keep }) => {
 *   while ((await store.removeExpired({ limit: 100 })).hasMore && (await keep())) continue
 * } })
 */
export class Maintenance implements AsyncDisposable {
  readonly #options: Required<MaintenanceOptions>
  readonly #holder = randomUUID()
  readonly #timers: Disposable[] = []
  readonly #leases: RoleLease[] = []
  readonly #turns = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: MaintenanceOptions) {
    this.#options = { closeTimeoutMs: 5_000, clock: systemClock, ...options }
  }

  /** Does a job from now on, as often as it says. */
  add(job: MaintenanceJob): void {
    const { name, intervalMs, isLocal = false, immediately = false } = job
    const lease = isLocal
      ? undefined
      : new RoleLease(this.#options.store, { role: name, holder: this.#holder }, intervalMs, this.#options.clock)
    if (lease) this.#leases.push(lease)
    this.#timers.push(
      new Periodic({
        intervalMs,
        immediately,
        clock: this.#options.clock,
        run: () => this.#track(this.#take(job, lease)),
        onError: (error) => this.#options.report(name, error),
      }),
    )
  }

  /** Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) timer[Symbol.dispose]()
    if (this.#turns.size > 0)
      await withinMs(this.#options.clock, Promise.allSettled(this.#turns), this.#options.closeTimeoutMs)
    // A role that cannot be given back ends by itself.
    await Promise.allSettled(this.#leases.map((lease) => lease.resign()))
  }

  async #take(job: MaintenanceJob, lease: RoleLease | undefined): Promise<void> {
    if (lease !== undefined && !(await lease.take())) return
    await job.run({
      keep: async () => !this.#isClosed && (lease === undefined || (await lease.keep())),
    } satisfies MaintenanceTurn)
  }

  async #track(turn: Promise<void>): Promise<void> {
    this.#turns.add(turn)
    try {
      await turn
    } finally {
      this.#turns.delete(turn)
    }
  }
}
