/**
 * How one run of a handler ended.
 *
 * `timed-out`: the lease ended before the run did (the worker died or stood still). `released`: the run was given back
 * unfinished, by a shutdown for example; it counts against no limit. `suspended`: the run ended to wait for children.
 *
 * @example
 * const counted: AttemptStatus[] = ['failed'] // the others count against no retry
 */
export type AttemptStatus =
  'in-progress' | 'succeeded' | 'failed' | 'cancelled' | 'timed-out' | 'released' | 'suspended'

/**
 * One run of a handler. Times are ISO-8601.
 *
 * @example
 * const isLost = ({ status }: AttemptRecord): boolean => status === 'timed-out'
 */
export interface AttemptRecord {
  /** From 1, one more with each run. */
  attempt: number
  /** Who ran it. */
  workerId: string
  /** When it was begun. */
  startedAt: string
  /** When it ended, once it has. */
  finishedAt?: string
  /** How it ended. */
  status: AttemptStatus
  /** What went wrong, if something did. */
  error?: { name: string; message: string; stack?: string }
}
