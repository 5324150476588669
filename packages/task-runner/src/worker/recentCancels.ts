import type { Clock } from '../time/clock.js'

/** Requests older than this have reached the row long before the claim was made. */
const KEEP_MS = 10_000
const CAPACITY = 1_000

/**
 * Requests to cancel that came in a moment ago. A request can overtake the claim that it is about: the task is running
 * by its row, but the worker has not been told yet.
 */
export class RecentCancels {
  readonly #requests = new Map<string, { reason: string | undefined; at: number }>()

  constructor(private readonly clock: Clock) {}

  add(taskId: string, reason: string | undefined): void {
    this.#requests.delete(taskId)
    this.#requests.set(taskId, { reason, at: this.clock.elapsed() })
    const [oldest] = this.#requests.keys()
    if (oldest !== undefined && this.#requests.size > CAPACITY) this.#requests.delete(oldest)
  }

  find(taskId: string): { reason: string | undefined } | undefined {
    if (this.#requests.size === 0) return undefined
    const limit = this.clock.elapsed() - KEEP_MS
    for (const [id, { at }] of this.#requests) {
      if (at > limit) break
      this.#requests.delete(id)
    }
    return this.#requests.get(taskId)
  }
}
