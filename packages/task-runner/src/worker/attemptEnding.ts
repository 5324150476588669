import type { ClaimOutcome } from '../queue/claimOutcome.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import type { RunnableTask } from '../store/begunTask.js'
import type { AttemptOutcome, FinishResult } from '../store/finishAttempt.js'
import { tellParent } from '../runner/tellParent.js'
import { isTerminalStatus } from '../task/taskStatus.js'
import type { RemovedTask } from '../task/taskUpdate.js'
import type { AttemptFinisher } from './attemptFinisher.js'
import type { Run } from './run.js'
import { RunEnding } from './runEnding.js'

const SUCCESS: ClaimOutcome = { kind: 'success' }
const FAILED: ClaimOutcome = { kind: 'failed' }
const CANCELLED: ClaimOutcome = { kind: 'cancelled' }
const SUSPENDED: ClaimOutcome = { kind: 'suspended' }
const REQUEUE: ClaimOutcome = { kind: 'requeue' }

type Finished = FinishResult & { kind: 'finished' }

/** Ends attempts: row first, then subscribers and telemetry, then the entry of a retry, then the answer to the queue. */
export class AttemptEnding {
  constructor(
    private readonly parts: RunnerParts,
    private readonly finisher: AttemptFinisher,
  ) {}

  async end(run: Run, task: RunnableTask, outcome: AttemptOutcome): Promise<ClaimOutcome> {
    const ending = new RunEnding(run, outcome)
    let result: FinishResult | undefined
    try {
      result = await this.finisher.finish(run, ending)
    } catch (error) {
      result = await this.finisher.finishAfter(error, run, ending)
    }
    return this.ended(run, task, outcome, result)
  }

  /** The rest, after how the run ended has been written; `result` is what the finisher answered. */
  ended(
    run: Run,
    task: RunnableTask,
    outcome: AttemptOutcome,
    result: FinishResult | undefined,
  ): ClaimOutcome | Promise<ClaimOutcome> {
    if (result === undefined) return REQUEUE
    if (result.kind === 'lost') return this.lost(run)
    const removed = result.removed === true ? removedTaskOf(outcome, result) : undefined
    this.parts.updates.status(run.type, run.taskId, result.status, result.at, result.cancelReason, removed)
    this.#tell(run, outcome, result)
    if (result.openChildren === undefined && result.parent === undefined)
      return this.#answer(run, task, outcome, result)
    return this.#tellFamily(run, result).then(() => this.#answer(run, task, outcome, result))
  }

  #answer(
    run: Run,
    task: RunnableTask,
    outcome: AttemptOutcome,
    result: Finished,
  ): ClaimOutcome | Promise<ClaimOutcome> {
    switch (result.status) {
      case 'succeeded':
        return SUCCESS
      case 'cancelled':
        return CANCELLED
      case 'failed':
        return FAILED
      case 'waiting':
        return SUSPENDED
      default:
        return this.#runAgain(run, task, outcome, result)
    }
  }

  /** Somebody else's task: there is nothing to write and nothing to run again. */
  lost({ taskId, type, attempt, workerId }: Run): ClaimOutcome {
    const { telemetry } = this.parts
    if (telemetry.hasListeners('onTaskLeaseLost')) {
      telemetry.emit('onTaskLeaseLost', { taskId, type, attempt, workerId })
    }
    return SUCCESS
  }

  async #runAgain(
    { attempt }: Run,
    task: RunnableTask,
    outcome: AttemptOutcome,
    { notBefore }: Finished,
  ): Promise<ClaimOutcome> {
    const { joint, dispatcher } = this.parts
    if (outcome.kind !== 'released') {
      if (joint === undefined) await dispatcher.tryDispatch(task, attempt, notBefore)
      return outcome.kind === 'failed' ? FAILED : SUSPENDED
    }
    // A joint step has put the entry back already. Otherwise the queue does, and until it has, the row stays marked.
    if (joint !== undefined || notBefore === undefined) return REQUEUE
    return { kind: 'requeue', notBefore: new Date(notBefore) }
  }

  /** Children that are still open are cancelled before a parent hears that its child has ended. */
  async #tellFamily({ taskId }: Run, { status, at, openChildren, parent }: Finished): Promise<void> {
    if (!isTerminalStatus(status)) return
    if (openChildren !== undefined) await this.parts.reapOrphans(taskId, status)
    await tellParent(this.parts, { taskId, status, at }, parent)
  }

  #tell(run: Run, outcome: AttemptOutcome, { status, at, removed }: Finished): void {
    const { telemetry } = this.parts
    const { taskId, type, attempt } = run
    if (outcome.kind === 'failed' && status !== 'cancelled') {
      const error = { name: outcome.error.name, message: outcome.error.message }
      telemetry.emit('onTaskFailed', { taskId, type, attempt, willRetry: status === 'pending', error })
      // What is not kept cannot be sent again.
      const isDead = status === 'failed' && removed !== true
      if (isDead) telemetry.emit('onTaskDeadLettered', { taskId, type, reason: 'failed', error })
    }
    if (!isTerminalStatus(status)) return
    if (status === 'cancelled') telemetry.emit('onTaskCancelled', { taskId, type })
    if (telemetry.hasListeners('onTaskCompleted')) {
      const durationMs = Math.max(0, at - run.startedAt)
      telemetry.emit('onTaskCompleted', { taskId, type, status, attempt, durationMs })
    }
  }
}

const removedTaskOf = (outcome: AttemptOutcome, { status }: Finished): RemovedTask => {
  if (status === 'succeeded' && outcome.kind === 'succeeded' && outcome.resultJson !== undefined) {
    return { result: JSON.parse(outcome.resultJson) as unknown }
  }
  if (status === 'failed' && outcome.kind === 'failed') {
    return { error: { name: outcome.error.name, message: outcome.error.message } }
  }
  return {}
}
