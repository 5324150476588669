import type { Task } from '../task/task.js'

/**
 * Why something is a dead letter.
 *
 * - `failed`: the task's retries were used up, or its error forbade them.
 * - `lost`: it was delivered as often as it may be, and each time its worker died or stood still.
 * - `expired`: it was not begun before its `startBefore`.
 * - `unreadable`: an entry of the queue that makes no sense; there is no task.
 *
 * @example
 * const mayHelp: DeadLetterReason[] = ['failed', 'lost'] // to send them again
 */
export type DeadLetterReason = 'failed' | 'lost' | 'expired' | 'unreadable'

/** All reasons, for checks. */
export const DEAD_LETTER_REASONS: readonly DeadLetterReason[] = ['failed', 'lost', 'expired', 'unreadable']

/**
 * A task that has failed for good.
 *
 * @example
 * const whyOf = ({ reason, task }: DeadTask): string => `${reason}: ${task.error?.message ?? ''}`
 */
export interface DeadTask {
  /** Tells tasks from entries. */
  readonly kind: 'task'
  /** The task's. */
  readonly id: string
  /** The type of the task. */
  readonly type: string
  /** Why it has failed for good. */
  readonly reason: Exclude<DeadLetterReason, 'unreadable'>
  /** When it failed, ISO-8601. */
  readonly at: string
  /** The row, with its payload, attempts, error and history. */
  readonly task: Task
}

/**
 * An entry that a queue has set aside, as it was.
 *
 * @example
 * const textOf = ({ fields }: DeadEntry): string => fields.map(([name, value]) => `${name}=${value}`).join(' ')
 */
export interface DeadEntry {
  /** Tells entries from tasks. */
  readonly kind: 'entry'
  /** Of the letter; it names lane and entry. */
  readonly id: string
  /** What its lane is for, if that can be told. */
  readonly type?: string
  /** `unreadable`: it made no sense. `lost`: it was delivered as often as it may be, and has no row. */
  readonly reason: 'unreadable' | 'lost'
  /** When it was set aside, ISO-8601. */
  readonly at: string
  /** Where it was. */
  readonly lane: string
  /** Names and values, in their order. */
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  /** Whether it was so large that only its beginning has been kept; it cannot be sent again then. */
  readonly isCut: boolean
}

/**
 * What has failed for good: a task, or an entry of the queue that could not be read.
 *
 * @example
 * const typeOf = (letter: DeadLetter): string | undefined => (letter.kind === 'task' ? letter.task.type : letter.type)
 */
export type DeadLetter = DeadTask | DeadEntry
