import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { TaskStatus } from '../task/taskStatus.js'
import type { ParentUpdate } from './parentUpdate.js'

/**
 * An error as attempts keep it.
 *
 * @example
 * const error: AttemptError = { name: 'RangeError', message: 'too many recipients' }
 */
export interface AttemptError {
  /** The class of what was thrown. */
  name: string
  /** Bounded. */
  message: string
  /** Bounded; for people. Ends with the stacks of what caused it. */
  stack?: string
}

/**
 * How an attempt ended.
 *
 * - `succeeded` with the JSON text of the result (absent for `undefined`).
 * - `failed`, to run again after `retryDelayMs`, or for good without it.
 * - `cancelled`: the handler stopped because it was told to.
 * - `released`: given back unfinished; runs again after `delayMs` (default 0) and counts against no limit. One that is
 *   `unstarted` has not reached a handler, so that a `startBefore` goes on to hold.
 * - `suspended`: waits until the awaited children have ended; those that have already are found out in the same step.
 * - `parked`: sleeps for `delayMs`, and runs again. Neither of the last two counts against a limit.
 *
 * @example
 * const outcome: AttemptOutcome = { kind: 'failed', error: { name: 'Error', message: 'no' }, retryDelayMs: 1_000 }
 */
export type AttemptOutcome =
  | { kind: 'succeeded'; resultJson?: string }
  | { kind: 'failed'; error: AttemptError; retryDelayMs?: number }
  | { kind: 'cancelled'; error?: AttemptError }
  | { kind: 'released'; delayMs?: number; unstarted?: boolean }
  | { kind: 'suspended'; awaiting: readonly string[] }
  | { kind: 'parked'; delayMs: number }

/**
 * Ends one attempt and moves its row on, in one conditional write fenced by `attempt`.
 *
 * @example
 * const input: FinishAttempt = {
 *   taskId,
 *   attempt: 1,
 *   workerId: 'w',
 *   startedAt: Date.now(),
 *   outcome: { kind: 'succeeded', resultJson: '42' },
 * }
 * await store.finishAttempt(input)
 */
export interface FinishAttempt {
  /** The task. */
  taskId: string
  /** The number that `begun` gave. */
  attempt: number
  /** Who ran it. */
  workerId: string
  /** Epoch milliseconds, the `at` that `begun` gave. */
  startedAt: number
  /** How it ended. */
  outcome: AttemptOutcome
  /** The handler's policy. If this ends the task, it counts where the row has none but the default. */
  retentionPolicy?: Readonly<TaskRetentionPolicy>
}

/**
 * - `finished`: the row has `status` now. It is `cancelled` for every outcome when a cancel came first.
 *   `notBefore` (epoch milliseconds) is set when the task is `pending` again with a delay. A suspended one is `waiting`,
 *   or `pending` at once if none of the awaited children is open any more. `openChildren` counts the children that have
 *   not ended; without it there are none. `removed`: the task is over, and its policy left nothing of it to read.
 * - `lost`: the attempt was no longer the row's present one, or the row is terminal or gone; nothing was changed.
 *
 * @example
 * const result: FinishResult = await store.finishAttempt(finish)
 * if (result.kind === 'lost') console.warn('the attempt was somebody else’s by then')
 */
export type FinishResult =
  | {
      kind: 'finished'
      status: TaskStatus
      at: number
      notBefore?: number
      cancelReason?: string
      openChildren?: number
      parent?: ParentUpdate
      removed?: true
    }
  | { kind: 'lost'; status?: TaskStatus }
