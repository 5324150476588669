import type { TaskStatus } from '../task/taskStatus.js'
import type { DeadLetter, DeadLetterReason } from './deadLetter.js'

/** The place of a dead letter in the order of their times; those of one time come in the order of the other members. */
export interface DeadLetterPosition {
  /** Epoch milliseconds. */
  at: number
  kind: DeadLetter['kind']
  reason: DeadLetterReason
  type?: string
  id: string
}

/** A page of dead letters to be read. */
export interface DeadLetterQuery {
  type?: string
  reason?: DeadLetterReason
  order: 'newest' | 'oldest'
  /** Where the page before ended. */
  after?: DeadLetterPosition
  /** Only those of this time (epoch milliseconds) or before. */
  until?: number
  /** How many at most. */
  limit: number
}

/** `next` is where to go on; without it there is nothing more. A page may be short, or empty, and have a next one. */
export interface DeadLetterBatch {
  letters: DeadLetter[]
  next?: DeadLetterPosition
}

/** Sends a dead letter again. */
export interface ResendInput {
  id: string
  /** Whether the recorded steps of the task are forgotten. */
  fromScratch: boolean
}

/**
 * - `resent`: the task is pending again, with counters that begin anew; or the entry is back where it was.
 * - `stale`: it is a task, but no dead letter (any more). `missing`: there is no such thing.
 * - `parent`: its parent is over (`status`), or gone. `key`: another task has its idempotency key by now.
 * - `cut`: only a part of the entry has been kept.
 */
export type ResendResult =
  | { kind: 'resent'; at: number; letter: DeadLetter }
  | { kind: 'missing' }
  | { kind: 'stale'; status: TaskStatus }
  | { kind: 'parent'; parentTaskId: string; status?: TaskStatus }
  | { kind: 'key'; holderId: string }
  | { kind: 'cut' }

/**
 * Where dead letters lie. Each operation is one atomic step that takes a bounded time; a letter whose row has gone in the
 * meantime is skipped.
 */
export interface DeadLetterBox {
  list(query: DeadLetterQuery): Promise<DeadLetterBatch>
  get(id: string): Promise<DeadLetter | undefined>
  /** Those of a type, or all. May count some whose rows went a short while ago. */
  count(query: { type?: string }): Promise<number>
  /**
   * Takes a letter out and makes its task pending again (marked as not yet enqueued, unless its entry is made in the same
   * step), or puts its entry back. Of several at a time, one does so.
   */
  resend(input: ResendInput): Promise<ResendResult>
  /**
   * Removes a letter with all that belongs to it; answers whether it was there. A task goes with its children, as soon as
   * none of them is open. Its idempotency key is free then.
   */
  discard(id: string): Promise<boolean>
}
