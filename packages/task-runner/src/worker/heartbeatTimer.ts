import type { ClaimedTask, QueueAdapter } from '../queue/queueAdapter.js'
import type { ExtendAttempt, ExtendResult } from '../store/extendAttempt.js'
import type { JointSteps } from '../store/jointSteps.js'
import type { TaskStore } from '../store/taskStore.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { Clock } from '../time/clock.js'
import type { OpenRuns } from './openRuns.js'
import type { Run } from './run.js'

/** What the heartbeats of a worker need. */
export interface HeartbeatTimerParts {
  readonly store: TaskStore
  readonly adapter: QueueAdapter
  readonly joint: JointSteps | undefined
  readonly report: ReportError
  readonly clock: Clock
  readonly settings: { readonly heartbeatIntervalMs: number }
}

/** Timers fire up to a millisecond early by the monotonic clock. */
const SLACK_MS = 2

/**
 * Keeps the leases of a worker's runs alive: one timer for all of them, none while nothing is open. On each tick it
 * extends what is older than a third of its visibility, all together, and passes on what the answers tell.
 */
export class HeartbeatTimer {
  #cancel: (() => void) | undefined
  #nextAt = Infinity
  #isFailing = false

  /** @param open the runs that are kept alive */
  constructor(
    private readonly parts: HeartbeatTimerParts,
    private readonly open: OpenRuns,
  ) {}

  /**
   * Sees to a run that is open from now on. One that is not any more needs no word: the timer finds out by itself, rather
   * than being armed and cleared for each short task.
   */
  watch(run: Run): void {
    const due = Math.min(run.extendedAt + this.#periodOf(run), run.timeoutAt)
    if (due < this.#nextAt - SLACK_MS) this.#armAt(due)
  }

  /** Extends one run now, and stores its progress with it. `undefined`: it failed, which has been reported. */
  async extend(run: Run, progress?: ExtendAttempt['progress']): Promise<ExtendResult | undefined> {
    const [result] = await this.#extendAll([run], progress)
    return result
  }

  [Symbol.dispose](): void {
    this.#cancel?.()
    this.#nextAt = Infinity
  }

  #periodOf(run: Run): number {
    return Math.min(run.visibilityMs / 3, this.parts.settings.heartbeatIntervalMs)
  }

  #armAt(at: number): void {
    this.#cancel?.()
    this.#nextAt = at
    this.#cancel = this.parts.clock.setTimer(this.#tick, at - this.parts.clock.elapsed())
  }

  readonly #tick = (): void => {
    this.#nextAt = Infinity
    const now = this.parts.clock.elapsed()
    const due: Run[] = []
    let period = Infinity
    let timeoutAt = Infinity
    for (const run of this.open.all) {
      if (run.timeoutAt <= now + SLACK_MS) {
        run.timeOut()
        continue
      }
      timeoutAt = Math.min(timeoutAt, run.timeoutAt)
      const runPeriod = this.#periodOf(run)
      period = Math.min(period, runPeriod)
      if (run.isExtending) {
        // The answer does not come, so nobody knows whose the task is by now.
        if (now >= run.leaseEndsAt) run.lose('expired')
      } else if (now - run.extendedAt >= runPeriod - SLACK_MS) due.push(run)
    }
    if (due.length > 0) void this.#extendAll(due)
    // After a failure the next try comes sooner, so that there are several before the leases end.
    const next = Math.min(now + (this.#isFailing ? period / 4 : period), timeoutAt)
    if (next !== Infinity) this.#armAt(next)
  }

  async #extendAll(
    runs: readonly Run[],
    progress?: ExtendAttempt['progress'],
  ): Promise<Array<ExtendResult | undefined>> {
    const sentAt = this.parts.clock.elapsed()
    for (const run of runs) run.isExtending = true
    const steps = runs.map((run) => {
      const { taskId, attempt, visibilityMs } = run
      const input: ExtendAttempt = { taskId, attempt, visibilityTimeoutMs: visibilityMs }
      return { claim: run.claim, input: progress === undefined ? input : { ...input, progress } }
    })
    try {
      const results = await this.#send(steps)
      for (const [index, run] of runs.entries()) this.#learn(run, results[index], sentAt)
      return results
    } finally {
      for (const run of runs) run.isExtending = false
    }
  }

  async #send(
    steps: ReadonlyArray<{ claim: ClaimedTask; input: ExtendAttempt }>,
  ): Promise<Array<ExtendResult | undefined>> {
    const { joint } = this.parts
    if (joint === undefined) return Promise.all(steps.map(({ claim, input }) => this.#extendApart(claim, input)))
    try {
      return await joint.extend(steps)
    } catch (error) {
      return this.#failed(steps.length, error)
    }
  }

  async #extendApart(claim: ClaimedTask, input: ExtendAttempt): Promise<ExtendResult | undefined> {
    try {
      const result = await this.parts.store.extendAttempt(input)
      if (result.kind === 'extended') await this.parts.adapter.heartbeat(claim)
      return result
    } catch (error) {
      return this.#failed(1, error)[0]
    }
  }

  #failed(count: number, error: unknown): undefined[] {
    this.#isFailing = true
    this.parts.report('heartbeat', error)
    return new Array<undefined>(count).fill(undefined)
  }

  #learn(run: Run, result: ExtendResult | undefined, sentAt: number): void {
    if (result === undefined) {
      if (this.parts.clock.elapsed() >= run.leaseEndsAt) run.lose('expired')
      return
    }
    this.#isFailing = false
    if (result.kind === 'lost') return run.lose('taken')
    run.extendedAt = sentAt
    if (result.cancelling) run.cancel(result.cancelReason)
  }
}
