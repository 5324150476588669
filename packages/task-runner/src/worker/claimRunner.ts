import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'
import { defineTaskHandler } from '../handler/defineTaskHandler.js'
import type { TaskContext } from '../handler/taskContext.js'
import type { ClaimOutcome } from '../queue/claimOutcome.js'
import type { ClaimedTask } from '../queue/queueAdapter.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import type { BegunTask, RunnableTask } from '../store/begunTask.js'
import type { AttemptOutcome, FinishResult } from '../store/finishAttempt.js'
import { AttemptEnding } from './attemptEnding.js'
import { AttemptFinisher } from './attemptFinisher.js'
import { attemptOutcomeOf } from './attemptOutcomeOf.js'
import { dueSince } from './dueSince.js'
import { HeartbeatTimer } from './heartbeatTimer.js'
import { OpenRuns } from './openRuns.js'
import { progressOfValue } from './progressOfValue.js'
import { Run, type RunObserver } from './run.js'
import { RunContext } from './runContext.js'
import { RunEnding } from './runEnding.js'
import { loadSteps } from './steps/openSteps.js'

/** Stands for the handler of an attempt that is only ended. */
const NO_HANDLER = defineTaskHandler({ type: 'none', version: 1, handler: () => Promise.resolve() })

/** A task whose steps could not be loaded is run again after this. */
const TROUBLE_PAUSE_MS = 1_000

/** What a run has to know about its worker. */
export interface ClaimRunnerWorker {
  /** Tells a run that begins now whatever it missed. */
  greet(run: Run): void
  isClosing(): boolean
}

/** Takes attempts that have begun through their handlers to their ends. */
export class ClaimRunner implements Disposable {
  /** The runs whose handlers are running. */
  readonly #open = new OpenRuns()
  readonly #heartbeats: HeartbeatTimer
  readonly #finisher: AttemptFinisher
  readonly #ending: AttemptEnding

  constructor(
    private readonly parts: RunnerParts,
    private readonly workerId: string,
    private readonly worker: ClaimRunnerWorker,
  ) {
    this.#heartbeats = new HeartbeatTimer(parts, this.#open)
    this.#finisher = new AttemptFinisher(parts, () => worker.isClosing())
    this.#ending = new AttemptEnding(parts, this.#finisher)
  }

  get runs(): readonly Run[] {
    return this.#open.all
  }

  /** Never rejects. */
  async run(claim: ClaimedTask, begun: BegunTask, handler: AnyTaskHandlerDescriptor): Promise<ClaimOutcome> {
    const { task } = begun.stored
    const run = new Run(claim, begun, handler, this.workerId, this.parts.clock)
    this.#announce(task, begun)
    this.#openRun(run)
    if (begun.stored.hasSteps === true && !(await this.#loadSteps(run))) {
      this.#closeRun(run)
      return this.#ending.end(run, task, { kind: 'released', delayMs: TROUBLE_PAUSE_MS })
    }
    const context = new RunContext(this.parts, this.#heartbeats, run, task.payload)
    let end = await run.runHandler(context, this.#observe)
    this.#closeRun(run)
    if (run.blobs !== undefined) end = await run.blobs.close(end)
    if (run.steps !== undefined) end = await run.steps.close(end)
    if (run.progress !== undefined) await run.progress.close()
    if (run.stop?.kind === 'lost') return this.#ending.lost(run)
    const outcome = attemptOutcomeOf(run, end, this.parts)
    const ending = new RunEnding(run, outcome)
    let result: FinishResult | undefined
    // In here: a function of its own that waits would cost each task as much as three calls that do not.
    try {
      result = await this.#finisher.finish(run, ending)
    } catch (error) {
      result = await this.#finisher.finishAfter(error, run, ending)
    }
    return this.#ending.ended(run, task, outcome, result)
  }

  /** Hands an attempt back that has begun, but is not to be run here. */
  giveBack(claim: ClaimedTask, begun: BegunTask, delayMs: number): Promise<ClaimOutcome> {
    const outcome: AttemptOutcome = { kind: 'released', unstarted: true, ...(delayMs > 0 && { delayMs }) }
    const run = new Run(claim, begun, NO_HANDLER, this.workerId, this.parts.clock)
    return this.#ending.end(run, begun.stored.task, outcome)
  }

  public [Symbol.dispose](): void {
    this.#heartbeats[Symbol.dispose]()
  }

  readonly #observe = (run: Run, context: TaskContext<unknown>): RunObserver => ({
    onValue: (value) => this.#reportValue(run, context, value),
    onTeardownError: (error) => this.parts.report('handler', error),
  })

  /** A value may throw when it is looked at; its run goes on. */
  #reportValue(run: Run, context: TaskContext<unknown>, value: unknown): void {
    try {
      context.reportProgress(progressOfValue(value, run.progress?.percent ?? 0))
    } catch (error) {
      this.parts.report('progress', error)
    }
  }

  /** What the store does not give now is asked for by the next run. */
  async #loadSteps(run: Run): Promise<boolean> {
    try {
      run.steps = await loadSteps(this.parts, run)
      return true
    } catch (error) {
      this.parts.report('replay', error)
      return false
    }
  }

  #openRun(run: Run): void {
    this.#open.add(run)
    this.#heartbeats.watch(run)
    this.#listen(run)
    this.worker.greet(run)
  }

  #closeRun(run: Run): void {
    run.hasEnded = true
    this.#open.remove(run)
    const { lease } = run.claim
    if (lease !== undefined && lease.onLost === undefined) {
      lease.lost.removeEventListener('abort', run.onBrokerLost)
    }
  }

  #listen(run: Run): void {
    const { lease } = run.claim
    if (lease === undefined) return
    if (lease.onLost !== undefined) lease.onLost(run.onBrokerLost)
    else if (lease.lost.aborted) run.onBrokerLost()
    else lease.lost.addEventListener('abort', run.onBrokerLost)
  }

  #announce(task: RunnableTask, { at, attempt }: BegunTask): void {
    const { updates, telemetry } = this.parts
    const { id, type } = task
    updates.status(type, id, 'claimed', at)
    updates.status(type, id, 'running', at)
    if (!telemetry.hasListeners('onTaskClaimed')) return
    const queueLagMs = Math.max(0, at - dueSince(task, attempt))
    telemetry.emit('onTaskClaimed', { taskId: id, type, workerId: this.workerId, queueLagMs })
  }
}
