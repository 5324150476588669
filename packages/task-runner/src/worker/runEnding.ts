import type { AttemptOutcome, FinishAttempt } from '../store/finishAttempt.js'
import { isDefaultPolicy } from '../task/isDefaultPolicy.js'
import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { Run } from './run.js'

/**
 * How a run ended, as it is written. A class, because there is one for each task in work: see "Classes for what is in
 * work" in docs/performance.md.
 */
export class RunEnding implements FinishAttempt {
  readonly taskId: string
  readonly attempt: number
  readonly workerId: string
  readonly startedAt: number
  declare readonly retentionPolicy?: Readonly<TaskRetentionPolicy>

  constructor(
    { taskId, attempt, workerId, startedAt, handler: { retentionPolicy } }: Run,
    readonly outcome: AttemptOutcome,
  ) {
    this.taskId = taskId
    this.attempt = attempt
    this.workerId = workerId
    this.startedAt = startedAt
    if (!isDefaultPolicy(retentionPolicy)) this.retentionPolicy = retentionPolicy
  }
}
