import type { ResendRefusedError } from '../errors/resendRefusedError.js'
import type { DeadLetter, DeadLetterReason } from './deadLetter.js'

/**
 * Which dead letters to list.
 *
 * @example
 * const query: ListDeadLetters = { type: 'send-mail', reason: 'failed', limit: 50 }
 * const { letters } = await runner.deadLetters.list(query)
 */
export interface ListDeadLetters {
  /** Only those of this type. @default all */
  type?: string | undefined
  /** Only those for this reason. @default all */
  reason?: DeadLetterReason | undefined
  /** How many at most, 1 to 100. @default 20 */
  limit?: number | undefined
  /** The `cursor` of the page before. */
  cursor?: string | undefined
}

/**
 * A page of dead letters, newest first.
 *
 * @example
 * let page: DeadLetterPage = await runner.deadLetters.list()
 * while (page.cursor) page = await runner.deadLetters.list({ cursor: page.cursor })
 */
export interface DeadLetterPage {
  /** Newest first. */
  letters: DeadLetter[]
  /** Asks for the next page; absent after the last one. */
  cursor?: string
}

/**
 * Which dead letters to send again, or to remove.
 *
 * @example
 * const selection: DeadLetterSelection = { type: 'send-mail', reason: 'lost', olderThan: new Date('2030-01-01') }
 * const removed = await runner.deadLetters.discard(selection)
 */
export interface DeadLetterSelection {
  /** Only those of this type. */
  type: string
  /** Only those for this reason. @default all */
  reason?: DeadLetterReason | undefined
  /** Only those that became dead letters before this time, by the store's clock. @default now */
  olderThan?: Date | undefined
  /** How many at most, an integer of at least 1. @default all */
  limit?: number | undefined
}

/**
 * How a task is sent again.
 *
 * @example
 * const options: ResendOptions = { fromScratch: true } // its handler asks for other steps by now
 * await runner.deadLetters.resend(taskId, options)
 */
export interface ResendOptions {
  /**
   * Forgets what its handler recorded, so that its children are spawned and its calls made anew; for a handler that asks
   * for other steps by now. Without, what succeeded is kept, as for a retry. @default false
   */
  fromScratch?: boolean | undefined
}

/**
 * What came of sending many again.
 *
 * @example
 * const { resent, refused }: ResendReport = await runner.deadLetters.resend({ type: 'send-mail' })
 */
export interface ResendReport {
  /** How many are pending again. */
  resent: number
  /** Those that were refused; they are dead letters still. */
  refused: number
  /** Why, for the first 100 of them. */
  refusals: ResendRefusedError[]
}

/**
 * What has failed for good: tasks that used up their retries or forbade them, whose workers died too often, or that were
 * not begun in time; and entries of the queue that could not be read. They stay until they are sent again, discarded, or
 * their rows are removed by the retention policy.
 *
 * @example
 * const { letters, cursor } = await runner.deadLetters.list({ type: 'send-mail', reason: 'failed' })
 * for (const { id } of letters) await runner.deadLetters.resend(id)
 */
export interface DeadLetters {
  /**
   * A page of dead letters, newest first, with their tasks. Pages hold what is there when they are read: what comes or goes
   * in the meantime neither repeats nor hides anything else. Take an empty page for the last one only if it has no cursor.
   */
  list(query?: ListDeadLetters): Promise<DeadLetterPage>

  /** One dead letter by its id, which is that of its task; `undefined` for anything else. */
  get(id: string): Promise<DeadLetter | undefined>

  /** How many there are. May count some whose rows were removed a short while ago. */
  count(query?: { type?: string | undefined }): Promise<number>

  /**
   * Sends one again: its task is pending and queued, with all its retries and deliveries before it and without a
   * `startBefore`; its attempts and its history stay, with a `resent` event. It happens once, however many ask for it at
   * the same time. The task holds its idempotency key again. A parent that was told of the failure stays told; should it
   * still run, it is told of the new end too.
   *
   * Rejects with a `ResendRefusedError` if its parent is over, another task has its idempotency key, or it is an entry of
   * which only a part was kept; with an `InvalidTaskStateError` for a task that has not failed; with an `UnknownTaskError`.
   */
  resend(id: string, options?: ResendOptions): Promise<void>
  /** The same for many, oldest first, each by itself. Whatever fails again in the meantime is not sent twice. */
  resend(selection: DeadLetterSelection, options?: ResendOptions): Promise<ResendReport>

  /**
   * Removes one with its row, its history and its recorded steps; its children go with it. Rejects with an
   * `InvalidTaskStateError` for a task that has not failed, with an `UnknownTaskError` for anything unknown.
   */
  discard(id: string): Promise<void>
  /** The same for many, oldest first; resolves with how many were removed. */
  discard(selection: DeadLetterSelection): Promise<number>
}
