import type { BlobRef } from '@furystack/blob-store'

import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'

/**
 * A task to be submitted or drafted.
 *
 * @example
 * const options: SubmitOptions<{ to: string }> = {
 *   type: 'send-mail',
 *   handlerVersion: 1,
 *   payload: { to: 'a@example.org' },
 *   idempotencyKey: 'order-7',
 *   notBefore: new Date(Date.now() + 60_000),
 * }
 * await runner.submit(options)
 */
export interface SubmitOptions<P> {
  /** Selects the handler. Non-empty, at most 512 characters. */
  type: string
  /**
   * `undefined`, or what JSON gives back as it was: texts, finite numbers, booleans, `null`, arrays and plain objects of
   * these, up to 1,000 levels. Anything else (a Date, an instance of a class, NaN) is refused with a `PayloadError`.
   */
  payload: P
  /** The handler version that should run it; an integer of at least 1. */
  handlerVersion: number
  /**
   * Whoever submits with the same type, submitter and key gets the task that the first one made, as long as that is not
   * over, and in any case for the queue's `idempotencyTtlSec` (a day by default). Non-empty, at most 1024 characters.
   */
  idempotencyKey?: string
  /** Lets a key whose task has failed or was cancelled be submitted again, as a new task. @default false */
  resubmitAfterFailure?: boolean
  /** Earliest start. */
  notBefore?: Date
  /**
   * When the first attempt has to have begun, after `notBefore`. A task that no handler has had by then is not run any more
   * and fails with a `TaskExpiredError`, even if no worker ever comes: at the latest `expiryIntervalMs` (5 seconds) later. A
   * time that is over already is no mistake; such a task is stored, and fails. @default no limit
   */
  startBefore?: Date
  /** What a worker must offer to be given the task; at most 64, each non-empty and of at most 512 characters. */
  tags?: string[]
  /**
   * A task that is not over, which this one is to belong to: in its tree, cancelled with it, and cancelled when it ends
   * first, as a child that its handler spawned.
   */
  parentTaskId?: string
  /**
   * Blobs that the task is given to read, at most 1000: nobody deletes them as long as the task may need them, and
   * `delete-all` deletes them with the task's own.
   */
  consumedBlobs?: BlobRef[]
  /** What is missing in it comes from the handler's policy, if it is registered in this process, or the default. */
  retentionPolicy?: Partial<TaskRetentionPolicy>
  /** Identity of whoever submits, at most 1024 characters. Idempotency keys of different submitters do not meet. */
  submittedBy?: string
}
