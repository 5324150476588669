import type { BlobStore } from '@furystack/blob-store'
import { from, lastValueFrom, mergeMap, tap } from 'rxjs'

import type { DueBlobs } from '../store/dueBlobs.js'
import type { UsedBlob } from '../store/recordBlob.js'
import type { TaskStore } from '../store/taskStore.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { TaskRunnerTelemetry } from '../telemetry/taskRunnerTelemetry.js'
import type { Clock } from '../time/clock.js'
import { deleteBlob } from './deleteBlob.js'
import type { SweeperRunResult } from './sweeperRunResult.js'

/** How long a task that was taken is left to us. */
const LEASE_MS = 120_000
/** How long one deletion may take. */
const DELETE_MS = 30_000
/** Tasks that are dealt with at a time. */
const AT_A_TIME = 8
/** What could not be deleted now is tried again after this. */
const RETRY_MS = 600_000

/** What a sweep works with. */
export interface SweepBlobsParts {
  readonly store: Pick<TaskStore, 'takeDueBlobs' | 'settleBlobs'>
  readonly blobStore: Pick<BlobStore, 'delete' | 'storeName'>
  readonly telemetry: TaskRunnerTelemetry
  readonly report: ReportError
  readonly clock: Clock
}

/**
 * Deals with the blobs that are due, page after page: deletes what the policies say, task by task, and marks the tasks.
 * Trouble with one blob is reported, and does not keep the others waiting; its task is looked at again later.
 */
export const sweepBlobs = async (
  parts: SweepBlobsParts,
  { batchSize, keep }: { batchSize: number; keep: () => Promise<boolean> },
): Promise<SweeperRunResult> => {
  const { store, blobStore, telemetry, clock } = parts
  const { storeName } = blobStore
  const since = clock.elapsed()
  const result = { scannedCount: 0, sweptCount: 0, deletedBlobCount: 0 }
  /** Those whose blobs others used. They are looked at once more, as the others may be swept in the same run. */
  const waiting = new Set<string>()
  for (;;) {
    const endsAt = clock.elapsed() + LEASE_MS - DELETE_MS
    const page = await store.takeDueBlobs({ storeName, limit: batchSize, leaseMs: LEASE_MS })
    const before = waiting.size
    const swept$ = from(page.tasks).pipe(
      mergeMap((task) => sweepTask(parts, task, { endsAt, isAgain: waiting.has(task.taskId) }), AT_A_TIME),
      tap(({ taskId, deleted, outcome }) => {
        if (!waiting.has(taskId)) result.scannedCount++
        result.deletedBlobCount += deleted
        if (outcome === 'done') result.sweptCount++
        if (outcome === 'again') waiting.add(taskId)
      }),
    )
    await lastValueFrom(swept$, { defaultValue: undefined })
    const hasMore = page.hasMore || waiting.size > before
    if (!hasMore || !(await keep())) break
  }
  telemetry.emit('onSweeperRun', { ...result, durationMs: clock.elapsed() - since })
  return result
}

interface SweptTask {
  readonly taskId: string
  readonly deleted: number
  readonly outcome: 'done' | 'again' | 'later'
}

const sweepTask = async (
  { store, blobStore, telemetry, report, clock }: SweepBlobsParts,
  { taskId, type, deletable, inUse }: DueBlobs,
  { endsAt, isAgain }: { endsAt: number; isAgain: boolean },
): Promise<SweptTask> => {
  const deleted: UsedBlob[] = []
  for (const used of deletable) {
    const { key } = used.blob
    try {
      // Somebody else may have the task soon, and blobs of the same names.
      if (clock.elapsed() >= endsAt) break
      await deleteBlob(blobStore, key, clock, DELETE_MS)
      deleted.push(used)
      telemetry.emit('onSweeperBlobDeleted', { taskId, type, key, reason: used.use })
    } catch (error) {
      report('sweepBlobs', error)
    }
  }
  const hasFailed = deleted.length < deletable.length
  const outcome = hasFailed || (inUse.length > 0 && isAgain) ? 'later' : inUse.length > 0 ? 'again' : 'done'
  try {
    const settled = { taskId, storeName: blobStore.storeName, taken: deletable, gone: deleted }
    await store.settleBlobs(
      outcome === 'done' ? settled : { ...settled, retryAfterMs: outcome === 'again' ? 0 : RETRY_MS },
    )
  } catch (error) {
    // It comes again when the lease is over; to delete twice does no harm.
    report('sweepBlobs', error)
    return { taskId, deleted: deleted.length, outcome: 'later' }
  }
  return { taskId, deleted: deleted.length, outcome }
}
