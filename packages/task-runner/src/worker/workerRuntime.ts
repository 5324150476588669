import { randomUUID } from 'node:crypto'

import { checkNumber } from '../argument/checkNumber.js'
import { checkObject } from '../argument/checkObject.js'
import { checkTags } from '../argument/checkTags.js'
import { checkText } from '../argument/checkText.js'
import { RunnerDisposedError } from '../errors/runnerDisposedError.js'
import { TaskCancelledError } from '../errors/taskCancelledError.js'
import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'
import type { ClaimOutcome } from '../queue/claimOutcome.js'
import type { ClaimedTask } from '../queue/queueAdapter.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import { GrowingDelays } from '../time/growingDelays.js'
import { pause } from '../time/pause.js'
import { withinMs } from '../time/withinMs.js'
import { ClaimIntake, type Intake } from './claimIntake.js'
import { ClaimRunner } from './claimRunner.js'
import { HandlerTable } from './handlerTable.js'
import { Idleness } from './idleness.js'
import { RecentCancels } from './recentCancels.js'
import type { RegisterWorkerOptions } from './registerWorkerOptions.js'
import type { Run } from './run.js'
import type { Worker } from './worker.js'

/** A slot rests this long after trouble with the store, also in front of a queue that does not honour delays. */
const TROUBLE_PAUSE_MS = 250
/** A disposal does not wait longer for the last writes. */
const STORE_LIMIT_MS = 2_000

const REQUEUE: ClaimOutcome = { kind: 'requeue' }

/** One worker: what it claims from the queue, and how it comes to its end. */
export class WorkerRuntime implements Worker {
  public readonly name: string
  public readonly workerId = `worker-${randomUUID()}`
  public readonly concurrency: number
  public readonly tags: readonly string[]
  public readonly handlers: readonly AnyTaskHandlerDescriptor[]
  readonly #parts: RunnerParts
  readonly #idleness: Idleness
  readonly #recentCancels: RecentCancels
  readonly #troubles: GrowingDelays
  readonly #intake: ClaimIntake
  readonly #runner: ClaimRunner
  readonly #onEnded: (worker: WorkerRuntime) => void
  readonly #cancelRequests: Disposable[] = []
  #subscription: (Disposable & Partial<AsyncDisposable>) | undefined
  #isDraining = false
  #abortReason: Error | undefined
  #state: 'live' | 'disposed' | 'ended' = 'live'

  /** `onEnded` is called once, when the last claim of the disposed worker has been answered. */
  constructor(parts: RunnerParts, options: RegisterWorkerOptions, onEnded: (worker: WorkerRuntime) => void) {
    this.#parts = parts
    this.#idleness = new Idleness(parts.clock)
    this.#recentCancels = new RecentCancels(parts.clock)
    this.#troubles = new GrowingDelays({ firstMs: 250, maxMs: 10_000 }, parts.clock)
    this.#onEnded = onEnded
    this.name = checkText('name', checkObject('options', options).name, 512)
    this.concurrency = checkNumber('concurrency', options.concurrency, { min: 1, max: 100_000, integer: true })
    this.tags = checkTags('tags', options.tags)
    const table = new HandlerTable(options.handlers, options.compatibleVersions ?? {})
    this.handlers = table.all
    this.#intake = new ClaimIntake(parts, this.workerId, this.tags, table)
    this.#runner = new ClaimRunner(parts, this.workerId, {
      greet: (run) => this.#greet(run),
      isClosing: () => this.#abortReason !== undefined,
    })
    try {
      this.#subscribe(table)
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  get activeTaskCount(): number {
    return this.#idleness.active
  }

  public async drain({ timeoutMs = Infinity }: { timeoutMs?: number } = {}): Promise<void> {
    checkNumber('timeoutMs', timeoutMs, { min: 0, infinity: 'no limit' })
    this.#isDraining = true
    for (const run of this.#runner.runs) this.#greet(run)
    if (this.#state === 'live') await withinMs(this.#parts.clock, this.#idleness.wait(), timeoutMs)
  }

  /** Aborts the runs of these tasks. */
  cancel(taskIds: readonly unknown[], reason: string | undefined): void {
    const wanted = new Set(taskIds)
    for (const taskId of wanted) if (typeof taskId === 'string') this.#recentCancels.add(taskId, reason)
    for (const run of this.#runner.runs) if (wanted.has(run.taskId)) run.cancel(reason)
  }

  /** Tells a run whose lease has been ended that it lost its task. */
  loseRun(taskId: string, attempt: number): void {
    for (const run of this.#runner.runs) if (run.taskId === taskId && run.attempt <= attempt) run.lose('taken')
  }

  /** Lets the runs go on for `drainMs`, fires the signals of those that are left, and takes away what ignores them. */
  async close(drainMs: number, reason: Error): Promise<void> {
    const { abortTimeoutMs } = this.#parts.settings
    void this.drain()
    if (!(await this.#idleness.idleWithin(drainMs))) {
      this.#abortReason ??= reason
      for (const run of this.#runner.runs) this.#greet(run)
      if (!(await this.#idleness.idleWithin(abortTimeoutMs))) for (const run of this.#runner.runs) run.abandon()
      // Only a store that does not answer can keep this waiting.
      await this.#idleness.idleWithin(abortTimeoutMs + STORE_LIMIT_MS)
    }
    this[Symbol.dispose]()
    await this.#subscription?.[Symbol.asyncDispose]?.()
  }

  public [Symbol.dispose](): void {
    this.#isDraining = true
    if (this.#state === 'live') this.#state = 'disposed'
    this.#subscription?.[Symbol.dispose]()
    this.#idleness.release()
    this.#endWhenIdle()
  }

  public [Symbol.asyncDispose](): Promise<void> {
    return this.close(this.#parts.settings.drainTimeoutMs, new RunnerDisposedError('worker'))
  }

  #subscribe(table: HandlerTable): void {
    const { updates, adapter } = this.#parts
    // First of all: a claim whose cancel nobody would hear of must not come in.
    for (const type of table.types) {
      this.#cancelRequests.push(updates.onCancelRequest(type, (taskIds, reason) => this.cancel(taskIds, reason)))
    }
    this.#subscription = adapter.subscribe({
      workerId: this.workerId,
      concurrency: this.concurrency,
      tags: this.tags,
      types: table.types,
      compatibleVersions: table.compatibleVersions,
      visibilityTimeoutMs: table.visibilityTimeoutMs,
      maxDeliveries: table.maxDeliveries(this.#parts.settings.maxDeliveries),
      shouldDrain: () => this.#isDraining,
      onClaim: (claim) => this.#onClaim(claim),
    })
  }

  /** Never rejects. */
  #onClaim(claim: ClaimedTask): Promise<ClaimOutcome> {
    this.#idleness.enter()
    try {
      const outcome = this.#handle(claim)
      // Not `async`: one function that waits costs each task as much as three calls that do not.
      return (outcome instanceof Promise ? outcome : Promise.resolve(outcome)).then(this.#leave, this.#restAfter)
    } catch (error) {
      return this.#restAfter(error)
    }
  }

  readonly #leave = (outcome: ClaimOutcome): ClaimOutcome => {
    this.#idleness.leave()
    this.#endWhenIdle()
    return outcome
  }

  readonly #restAfter = async (error: unknown): Promise<ClaimOutcome> => {
    this.#parts.report('claim', error)
    const { delayMs } = this.#troubles.next(this.workerId)
    const { clock } = this.#parts
    await pause(clock, TROUBLE_PAUSE_MS)
    return this.#leave({ kind: 'requeue', notBefore: new Date(clock.now() + delayMs * (0.5 + clock.random())) })
  }

  #handle(claim: ClaimedTask): ClaimOutcome | Promise<ClaimOutcome> {
    if (this.#isDraining && claim.begun === undefined) return REQUEUE
    const intake = this.#intake.take(claim)
    return intake instanceof Promise ? intake.then((taken) => this.#run(claim, taken)) : this.#run(claim, intake)
  }

  #run(claim: ClaimedTask, intake: Intake): ClaimOutcome | Promise<ClaimOutcome> {
    this.#troubles.forget(this.workerId)
    if (intake.kind === 'answer') return intake.outcome
    if (intake.kind === 'giveBack') return this.#runner.giveBack(claim, intake.begun, intake.delayMs)
    if (this.#isDraining) return this.#runner.giveBack(claim, intake.begun, 0)
    return this.#runner.run(claim, intake.begun, intake.handler)
  }

  /** Tells a run, new or old, whatever it has to know about its worker and its task. */
  #greet(run: Run): void {
    const cancel = this.#recentCancels.find(run.taskId)
    if (cancel !== undefined) run.cancel(cancel.reason)
    if (this.#abortReason !== undefined) run.halt({ kind: 'handBack', error: this.#abortReason })
    if (this.#isDraining && run.handler.cancelOnDrain) {
      run.halt({ kind: 'handBack', error: new TaskCancelledError(run.taskId, 'drain') })
    }
  }

  /** Requests to cancel are listened to until the last handler has ended. */
  #endWhenIdle(): void {
    if (this.#state !== 'disposed' || this.#idleness.active > 0) return
    this.#state = 'ended'
    for (const request of this.#cancelRequests) request[Symbol.dispose]()
    this.#runner[Symbol.dispose]()
    this.#onEnded(this)
  }
}
