import type { RunnerParts } from '../runner/runnerParts.js'
import type { AttemptOutcome, FinishAttempt, FinishResult } from '../store/finishAttempt.js'
import { isTerminalStatus } from '../task/taskStatus.js'
import { pause } from '../time/pause.js'
import type { Run } from './run.js'

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2_000
/** A worker that is being disposed does not wait for a store that is away. */
const CLOSING_LIMIT_MS = 1_000

/**
 * Writes how an attempt ended, again and again while the store is in trouble and the lease lasts: what a handler has
 * done must not be lost to a moment's trouble.
 */
export class AttemptFinisher {
  constructor(
    private readonly parts: RunnerParts,
    private readonly isClosing: () => boolean,
  ) {}

  /** The first try. Rejects, or throws, for trouble; then {@link finishAfter} is to be asked. */
  finish({ claim }: Run, input: FinishAttempt): Promise<FinishResult> {
    const { joint, store } = this.parts
    return joint === undefined ? store.finishAttempt(input) : joint.finish(claim, input)
  }

  /** The first try has failed. Answers `undefined` if it could not be written. Reports trouble, never rejects. */
  async finishAfter(cause: unknown, run: Run, input: FinishAttempt): Promise<FinishResult | undefined> {
    const { clock } = this.parts
    const began = clock.elapsed()
    this.parts.report('finish', cause)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const limit = this.isClosing() ? Math.min(run.leaseEndsAt, began + CLOSING_LIMIT_MS) : run.leaseEndsAt
      if (clock.elapsed() + pauseMs >= limit) return undefined
      await pause(clock, pauseMs)
      try {
        const result = await this.finish(run, input)
        return result.kind === 'lost' ? await this.#unlessDoneBefore(run, input, result) : result
      } catch (error) {
        this.parts.report('finish', error)
      }
    }
  }

  /** A write whose answer got lost may have been made; the row tells. */
  async #unlessDoneBefore(run: Run, { outcome }: FinishAttempt, lost: FinishResult): Promise<FinishResult> {
    const { taskId, attempt, workerId } = run
    const stored = await this.parts.store.get(taskId)
    if (stored === undefined) return this.#removedBefore(run, outcome) ?? lost
    const last = stored.task.attempts.at(-1)
    if (last?.attempt !== attempt || last.workerId !== workerId) return lost
    const { task, cancelReason, openChildren } = stored
    if (!isTerminalStatus(task.status) || last.status === 'timed-out') return lost
    const at = Date.parse(task.terminalAt ?? task.submittedAt)
    return {
      kind: 'finished',
      status: task.status,
      at,
      ...(cancelReason !== undefined && { cancelReason }),
      ...(openChildren !== undefined && { openChildren }),
    }
  }

  /** The row of a task of which nothing is kept is not there any more after the write whose answer got lost. */
  #removedBefore(run: Run, outcome: AttemptOutcome): FinishResult | undefined {
    const { kind } = outcome
    if (kind !== 'succeeded' && kind !== 'failed' && kind !== 'cancelled') return undefined
    if (kind === 'failed' && outcome.retryDelayMs !== undefined) return undefined
    const at = run.startedAt + Math.round(this.parts.clock.elapsed() - run.beganAt)
    return { kind: 'finished', status: kind, at, removed: true }
  }
}
