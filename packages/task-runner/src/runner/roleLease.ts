import type { Role } from '../store/role.js'
import type { TaskStore } from '../store/taskStore.js'
import type { Clock } from '../time/clock.js'

/** The longest time that a role is held without being asked for again. */
const MAX_TTL_MS = 86_400_000

/** A role as one process sees it: whether it has it, and until when for certain. */
export class RoleLease {
  readonly #ttlMs: number
  #until = -Infinity

  constructor(
    private readonly store: Pick<TaskStore, 'lead' | 'resign'>,
    private readonly role: Role,
    intervalMs: number,
    private readonly clock: Clock,
  ) {
    // Shorter than the shortest pause, so that the role is free when its holder asks again, and whoever is first has it.
    this.#ttlMs = Math.min(MAX_TTL_MS, Math.max(1, Math.floor(intervalMs * 0.8)))
  }

  /** Asks for the role; tells whether it has it now. */
  async take(): Promise<boolean> {
    const askedAt = this.clock.elapsed()
    const isHeld = await this.store.lead({ ...this.role, ttlMs: this.#ttlMs })
    this.#until = isHeld ? askedAt + this.#ttlMs : -Infinity
    return isHeld
  }

  /** Whether it still has the role, which is asked for again in good time. */
  async keep(): Promise<boolean> {
    return this.#until - this.clock.elapsed() > (this.#ttlMs * 2) / 3 || this.take()
  }

  /** Gives the role back, if it has it. */
  async resign(): Promise<void> {
    if (this.#until <= this.clock.elapsed()) return
    this.#until = -Infinity
    await this.store.resign(this.role)
  }
}
