import type { BlobRef, BlobStore } from '@furystack/blob-store'
import type { Injector } from '@furystack/inject'

/**
 * What a handler is given for one run. Its members may be taken out of it and used on their own. Once the run has ended,
 * or has lost its task, they change nothing any more: the asynchronous ones reject, `reportProgress` does nothing.
 *
 * @example
 * handler: async ({ cancellationSignal, reportProgress }, { urls }) => {
 *   for (const [index, url] of urls.entries()) {
 *     await fetch(url, { signal: cancellationSignal })
 *     reportProgress({ percent: (100 * (index + 1)) / urls.length })
 *   }
 * }
 */
export interface TaskContext<P> {
  readonly taskId: string
  /** From 1, one more with each run. */
  readonly attempt: number
  /** What was submitted, after its way through JSON. Each run has a copy of its own. */
  readonly payload: P
  /** The injector of the runner. */
  readonly injector: Injector
  readonly blobStore: BlobStore
  /**
   * Fires when the run should stop. Its reason says why: `TaskCancelledError`, `LeaseLostError`, `AttemptTimeoutError`
   * or `RunnerDisposedError`.
   */
  readonly cancellationSignal: AbortSignal
  /**
   * Milliseconds until the run has to be over by the `attemptTimeoutMs` of its handler, 0 from then on; Infinity without
   * one. By a monotonic clock, and as of the moment it is read.
   */
  readonly remainingMs: number
  /**
   * Extends the lease of this run now. The runner does so by itself as long as the event loop turns, so this is only
   * needed ahead of work that blocks the loop. Rejects with a `LeaseLostError` if the task belongs to somebody else
   * by now, and with an `AttemptEndedError` after the run; trouble with the store is reported, not thrown.
   */
  readonly heartbeat: () => Promise<void>
  /**
   * Reports how far the run is: stores it, publishes it and extends the lease. More often than the handler's
   * `progressThrottleMs` only the latest report counts; the last one is always written. Never throws.
   *
   * @param progress.percent a finite number, 0 to 100 by convention.
   * @param progress.meta anything that JSON can carry.
   */
  readonly reportProgress: (progress: { percent: number; meta?: unknown }) => void
  /**
   * The reference of a blob that belongs to this task, under `tasks/<taskId>/<suffix>`. Nothing is written.
   *
   * @param suffix segments separated by `/`, none of them empty, `.` or `..`; an `InvalidArgumentError` otherwise.
   */
  readonly allocateBlob: (suffix: string, options?: { contentType?: string }) => BlobRef
  /**
   * Waits, at least `ms` milliseconds (any length). Rejects as soon as the signal fires, with its reason.
   */
  readonly sleep: (ms: number) => Promise<void>
  /**
   * Gives the task back, to be run again after at least `delayMs` milliseconds: it throws a `NotNowError`, which the
   * handler has to let pass. No attempt is spent.
   */
  readonly notNow: (delayMs: number) => never
}
