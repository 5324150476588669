import type { Task } from '../task/task.js'
import type { BeginResult } from './beginAttempt.js'
import type { StoredTask } from './storedTask.js'

/** What a run needs of its task. */
export type RunnableTask = Pick<Task, 'id' | 'type' | 'handlerVersion' | 'payload' | 'tags' | 'submittedAt'> & {
  readonly notBefore?: string | undefined
  /** The attempts before this one, at least. */
  readonly attempts: Task['attempts']
}

/** The part of a row that a run needs. */
export type RunnableRow = Pick<StoredTask, 'failures' | 'generation' | 'hasSteps'> & { readonly task: RunnableTask }

/** An attempt that has begun. A claim step answers it with no more than the run needs; a store with the whole row. */
export type BegunTask = Omit<BeginResult & { kind: 'begun' }, 'stored'> & { readonly stored: RunnableRow }

/** What a claim step answers that begins the attempt as well. */
export type ClaimBegun = BegunTask | Exclude<BeginResult, { kind: 'begun' }>
