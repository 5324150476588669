import type { TaskStatus } from '../task/taskStatus.js'
import type { DeadLetter, DeadLetterReason } from './deadLetter.js'

/**
 * The place of a dead letter in the order of their times; those of one time come in the order of the other members.
 *
 * @example
 * const { next } = await store.deadLetters.list({ order: 'newest', limit: 20 })
 * if (next) await store.deadLetters.list({ order: 'newest', limit: 20, after: next satisfies DeadLetterPosition })
 */
export interface DeadLetterPosition {
  /** Epoch milliseconds. */
  at: number
  /** Whether it is a task or an entry. */
  kind: DeadLetter['kind']
  /** Why it is one. */
  reason: DeadLetterReason
  /** Its type, if it has one. */
  type?: string
  /** Its id. */
  id: string
}

/**
 * A page of dead letters to be read.
 *
 * @example
 * const query: DeadLetterQuery = { type: 'send-mail', reason: 'failed', order: 'newest', limit: 20 }
 * await store.deadLetters.list(query)
 */
export interface DeadLetterQuery {
  /** Only those of this type. @default all */
  type?: string
  /** Only those for this reason. @default all */
  reason?: DeadLetterReason
  /** Which come first. */
  order: 'newest' | 'oldest'
  /** Where the page before ended. */
  after?: DeadLetterPosition
  /** Only those of this time (epoch milliseconds) or before. */
  until?: number
  /** How many at most. */
  limit: number
}

/**
 * `next` is where to go on; without it there is nothing more. A page may be short, or empty, and have a next one.
 *
 * @example
 * const { letters, next }: DeadLetterBatch = await store.deadLetters.list({ order: 'newest', limit: 20 })
 */
export interface DeadLetterBatch {
  /** In the order that was asked for. */
  letters: DeadLetter[]
  /** Where to go on. */
  next?: DeadLetterPosition
}

/**
 * Sends a dead letter again.
 *
 * @example
 * const input: ResendInput = { id: taskId, fromScratch: true }
 * await store.deadLetters.resend(input)
 */
export interface ResendInput {
  /** The letter. */
  id: string
  /** Whether the recorded steps of the task are forgotten. */
  fromScratch: boolean
}

/**
 * - `resent`: the task is pending again, with counters that begin anew; or the entry is back where it was.
 * - `stale`: it is a task, but no dead letter (any more). `missing`: there is no such thing.
 * - `parent`: its parent is over (`status`), or gone. `key`: another task has its idempotency key by now.
 * - `cut`: only a part of the entry has been kept.
 *
 * @example
 * const result: ResendResult = await store.deadLetters.resend({ id: taskId, fromScratch: false })
 * if (result.kind === 'key') console.log(`${result.holderId} has its key`)
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
 *
 * @example
 * const box: DeadLetterBox = store.deadLetters
 * const { letters } = await box.list({ type: 'send-mail', order: 'oldest', limit: 100 })
 * for (const { id } of letters) await box.resend({ id, fromScratch: false })
 */
export interface DeadLetterBox {
  /** Reads a page. */
  list(query: DeadLetterQuery): Promise<DeadLetterBatch>
  /** One letter; `undefined` if there is none with this id. */
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
