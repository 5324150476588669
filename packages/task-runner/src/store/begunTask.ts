import type { Task } from '../task/task.js'
import type { BeginResult } from './beginAttempt.js'
import type { StoredTask } from './storedTask.js'

/**
 * What a run needs of its task.
 *
 * @example
 * const laneOf = ({ type, handlerVersion }: RunnableTask): string => `${type}:v${handlerVersion}`
 */
export type RunnableTask = Pick<Task, 'id' | 'type' | 'handlerVersion' | 'payload' | 'tags' | 'submittedAt'> & {
  /** When it was due, ISO-8601; absent for at once. */
  readonly notBefore?: string | undefined
  /** The attempts before this one, at least. */
  readonly attempts: Task['attempts']
}

/**
 * The part of a row that a run needs.
 *
 * @example
 * const isReplay = ({ hasSteps }: RunnableRow): boolean => hasSteps === true
 */
export type RunnableRow = Pick<StoredTask, 'failures' | 'generation' | 'hasSteps'> & {
  /** What the run needs of the task. */
  readonly task: RunnableTask
}

/**
 * An attempt that has begun. A claim step answers it with no more than the run needs; a store with the whole row.
 *
 * @example
 * const labelOf = ({ stored, attempt }: BegunTask): string => `${stored.task.id}, attempt ${attempt}`
 */
export type BegunTask = Omit<BeginResult & { kind: 'begun' }, 'stored'> & {
  /** What the run needs of the row. */
  readonly stored: RunnableRow
}

/**
 * What a claim step answers that begins the attempt as well.
 *
 * @example
 * const isToRun = (begun: ClaimBegun): boolean => begun.kind === 'begun'
 */
export type ClaimBegun = BegunTask | Exclude<BeginResult, { kind: 'begun' }>
