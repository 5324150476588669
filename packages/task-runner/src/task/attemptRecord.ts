/**
 * How one run of a handler ended.
 *
 * `timed-out`: the lease ended before the run did (the worker died or stood still). `released`: the run was given back
 * unfinished, by a shutdown for example; it counts against no limit. `suspended`: the run ended to wait for children.
 */
export type AttemptStatus =
  'in-progress' | 'succeeded' | 'failed' | 'cancelled' | 'timed-out' | 'released' | 'suspended'

/** One run of a handler. Times are ISO-8601. */
export interface AttemptRecord {
  /** From 1, one more with each run. */
  attempt: number
  workerId: string
  startedAt: string
  finishedAt?: string
  status: AttemptStatus
  error?: { name: string; message: string; stack?: string }
}
