import type { BlobRef } from '@furystack/blob-store'

import type { AttemptRecord } from './attemptRecord.js'
import type { TaskEvent } from './taskEvent.js'
import type { TaskRetentionPolicy } from './taskRetentionPolicy.js'
import type { TaskStatus } from './taskStatus.js'

/**
 * The last progress that a handler reported and that was stored.
 *
 * @example
 * const progress: TaskProgress | undefined = (await runner.get(taskId))?.progress
 * console.log(`${progress?.percent ?? 0} %`)
 */
export interface TaskProgress {
  /** 0 to 100, as the handler gave it. */
  percent: number
  /** Whatever the handler added; it went through JSON. */
  meta?: unknown
  /** ISO-8601. */
  updatedAt: string
}

/**
 * Why a task failed for good. It never carries a stack: stacks stay in the attempt records.
 *
 * @example
 * const error: TaskError | undefined = (await runner.get(taskId))?.error
 * if (error?.name === 'RangeError') console.log(error.message)
 */
export interface TaskError {
  /** The class of what was thrown. */
  name: string
  /** Bounded. */
  message: string
}

/**
 * One task as its store keeps it. All times are ISO-8601 strings by the clock of the store.
 *
 * A class with declared fields only, so that it can serve as the model of a store of your own.
 *
 * @example
 * const task = await runner.get(taskId)
 * console.log(task?.status, task?.result)
 */
export class Task {
  /** Random UUID. */
  declare id: string
  /** Selects the handler. */
  declare type: string
  /** The handler version that the submitter asked for. */
  declare handlerVersion: number
  /** Where it is in its life. */
  declare status: TaskStatus
  /** What the submitter passed, after a round trip through JSON. */
  declare payload: unknown
  /** What the handler returned, set with `succeeded`. */
  declare result?: unknown
  /** Set with the final `failed`. */
  declare error?: TaskError
  /** What its handler reported last. */
  declare progress?: TaskProgress
  /** The task that it is a child of. */
  declare parentTaskId?: string
  /** Children spawned by the handler, in order. */
  declare childTaskIds: string[]
  /** Identity of the submitter, if one was given. */
  declare submittedBy?: string
  /** When it was stored. */
  declare submittedAt: string
  /**
   * Earliest start. A retry rewrites it, and so does whatever makes the task due now: the start of a draft, a child that
   * wakes its waiting parent, and whoever sends a dead letter again.
   */
  declare notBefore?: string
  /** When the first attempt has to have begun; a task that has not been run by then fails. */
  declare startBefore?: string
  /** The key that it was submitted with. */
  declare idempotencyKey?: string
  /** Every run, oldest first, never pruned. */
  declare attempts: AttemptRecord[]
  /** The newest {@link MAX_EVENTS_PER_TASK}. */
  declare events: TaskEvent[]
  /** Blobs that its handler wrote, or has given upload URLs for. */
  declare producedBlobs: BlobRef[]
  /** Blobs that it was given to read. */
  declare consumedBlobs: BlobRef[]
  /** What becomes of it once it is over. */
  declare retentionPolicy: TaskRetentionPolicy
  /** What a worker must offer to be given this task. */
  declare tags: string[]
  /** End of the present lease, while `running` or `cancelling`. */
  declare visibilityDeadline?: string
  /** The present or last worker. */
  declare workerId?: string
  /** While `waiting`: JSON array of the awaited child ids. */
  declare resumeToken?: string
  /** Set together with a terminal status. */
  declare terminalAt?: string
  /** Set once the blobs have been dealt with by the retention policy. */
  declare blobsSweptAt?: string
}
