import type { BlobRef, BlobStore } from '@furystack/blob-store'
import type { Injector } from '@furystack/inject'

import type { ChildHandle } from '../tree/childHandle.js'
import type { ResultOf } from '../tree/resultOf.js'
import type { SettledChildResult } from '../tree/settledChildResult.js'
import type { SpawnOptions } from '../tree/spawnOptions.js'

/**
 * What a handler is given for one run. Its members may be taken out of it and used on their own. Once the run has ended,
 * or has lost its task, they change nothing any more: the asynchronous ones reject, `reportProgress` does nothing.
 *
 * @example
 * const handler = async ({ cancellationSignal, reportProgress }: TaskContext<unknown>, { urls }: { urls: string[] }) => {
 *   for (const [index, url] of urls.entries()) {
 *     await fetch(url, { signal: cancellationSignal })
 *     reportProgress({ percent: (100 * (index + 1)) / urls.length })
 *   }
 * }
 */
export interface TaskContext<P> {
  /** The task. */
  readonly taskId: string
  /** From 1, one more with each run. */
  readonly attempt: number
  /** What was submitted, after its way through JSON. Each run has a copy of its own. */
  readonly payload: P
  /** The injector of the runner. */
  readonly injector: Injector
  /**
   * The bound blob store. What is written through it below `tasks/<taskId>/`, also by upload URLs that it gives, is put on
   * the task's `producedBlobs` before, so that the retention policy finds it whatever happens. To dispose it does nothing.
   */
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
   * @param progress.meta what a payload may be; a report of anything else is dropped, which telemetry is told.
   */
  readonly reportProgress: (progress: { percent: number; meta?: unknown }) => void
  /**
   * The reference of a blob that belongs to this task, under `tasks/<taskId>/<suffix>`. Nothing is written but the task's
   * record, of `producedBlobs`, in the background: a run that asks again for the same finds it there.
   *
   * @param suffix segments separated by `/`, none of them empty, `.` or `..`; an `InvalidArgumentError` otherwise.
   */
  readonly allocateBlob: (suffix: string, options?: { contentType?: string }) => BlobRef
  /**
   * Puts a blob on the task's `consumedBlobs`: nobody deletes it from then on as long as the task may need it, and
   * `delete-all` deletes it with the task's own, once nobody else uses it.
   */
  readonly consumeBlob: (blob: BlobRef) => Promise<void>
  /**
   * Creates a child task; resolves when it is stored and will be run. Children that have not ended when their parent does
   * are cancelled. Rejects once the task has been told to cancel.
   */
  readonly spawnChild: <I, O>(type: string, payload: I, options?: SpawnOptions) => Promise<ChildHandle<O>>
  /**
   * The results of children, in the order of their handles. Rejects with a `ChildTaskError` for the first one that failed
   * or was cancelled, once all have ended.
   *
   * While it waits the run ends and gives its slot back; afterwards the handler is run again from the top, and everything
   * that was recorded (children, results, `now`, `random`, `sleep`, `fetch`) is answered as before. The handler has to ask
   * for the same in each run; one that does not fails with a `ReplayMismatchError`.
   *
   * @example
   * const pages = await Promise.all(['/', '/about'].map((path) => ctx.spawnChild<string, string>('fetch-page', path)))
   * return (await ctx.awaitChildren(pages)).join()
   */
  readonly awaitChildren: <const H extends ReadonlyArray<ChildHandle<unknown>>>(
    handles: H,
  ) => Promise<{ -readonly [I in keyof H]: ResultOf<H[I]> }>
  /** The same, but tells of each child how it ended instead of rejecting. */
  readonly awaitChildrenSettled: <const H extends ReadonlyArray<ChildHandle<unknown>>>(
    handles: H,
  ) => Promise<{ -readonly [I in keyof H]: SettledChildResult<ResultOf<H[I]>> }>
  /** Spawns a child and waits for its result, as `spawnChild` and `awaitChildren` do. */
  readonly spawnChildAndAwait: <I, O>(type: string, payload: I, options?: SpawnOptions) => Promise<O>
  /** The time of the first run that asked. */
  readonly now: () => Date
  /** From 0 up to 1, the same in each run. */
  readonly random: () => number
  /**
   * Waits, at least `ms` milliseconds (any length) from the first run that asked. A long sleep (more than five seconds,
   * unless the runner was told otherwise) gives the slot back, and the handler is run again from the top when it is over.
   * Rejects as soon as the signal fires, with its reason.
   *
   * In a race against children it is no time limit, as their end cuts no sleep short: give the child's handler an
   * `attemptTimeoutMs`, and its spawn a `startBefore`.
   */
  readonly sleep: (ms: number) => Promise<void>
  /**
   * Gives the task back, to be run again after at least `delayMs` milliseconds: it throws a `NotNowError`, which the
   * handler has to let pass. No attempt is spent.
   */
  readonly notNow: (delayMs: number) => never
  /**
   * The platform's `fetch`, whose response is read to its end and recorded: it is called once, and stops with the run. The
   * record is found by method, URL and body. A retry after a failed attempt repeats calls that were rejected or answered
   * with a status from 400. A body of more than the runner's `maxPayloadBytes` rejects it with a `PayloadError`; there is no
   * limit by default, so get what is large with the platform's own `fetch`, into a blob.
   */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
}
