/**
 * A registered worker.
 *
 * `Symbol.dispose` stops claiming; what runs goes on, can still be cancelled, and is settled. `Symbol.asyncDispose`
 * drains, fires the signals of what still runs after the runner's `drainTimeoutMs`, and resolves when all of it has
 * been settled or handed back.
 *
 * @example
 * await using worker = runner.registerWorker({
 *   name: 'mail', handlers: [sendMail], concurrency: 4, tags: [], compatibleVersions: {},
 * })
 */
export interface Worker extends Disposable, AsyncDisposable {
  /** As it was registered. */
  readonly name: string
  /** `worker-` and a random UUID. */
  readonly workerId: string
  /** Tasks that run at the same time, at most. */
  readonly concurrency: number
  /** What it offers. */
  readonly tags: readonly string[]
  /** Claims that this worker holds at the moment. */
  readonly activeTaskCount: number
  /**
   * Stops claiming, and fires the signals of running `cancelOnDrain` handlers. Resolves when nothing is active any
   * more, or after `timeoutMs` (whatever still runs goes on), or when the worker is disposed. Never rejects; may be
   * called as often as one likes.
   */
  drain(options?: { timeoutMs?: number }): Promise<void>
}
