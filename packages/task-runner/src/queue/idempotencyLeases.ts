import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/systemClock.js'

/**
 * Which task holds which idempotency key, in this process, each for a fixed time.
 *
 * @example
 * const leases = new IdempotencyLeases(86_400_000)
 * leases.acquire('mail', 'key', 'task-1') // 'task-1'
 * leases.acquire('mail', 'key', 'task-2') // 'task-1'
 */
export class IdempotencyLeases {
  /** In the order of their ends, as all live equally long. */
  readonly #leases = new Map<string, { taskId: string; until: number }>()

  constructor(
    private readonly lifetimeMs: number,
    private readonly clock: Clock = systemClock,
  ) {}

  get size(): number {
    return this.#leases.size
  }

  /** Answers the task that holds the key, which is the proposed one if nobody held it. */
  acquire(type: string, key: string, taskId: string): string {
    const now = this.clock.now()
    this.#purge(now)
    const name = `${type}\0${key}`
    const held = this.#leases.get(name)
    if (held !== undefined) return held.taskId
    this.#leases.set(name, { taskId, until: now + this.lifetimeMs })
    return taskId
  }

  #purge(now: number): void {
    for (const [name, { until }] of this.#leases) {
      if (until > now) return
      this.#leases.delete(name)
    }
  }
}
