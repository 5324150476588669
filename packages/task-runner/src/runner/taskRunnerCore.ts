import type { Observable } from 'rxjs'

import { checkFunction } from '../argument/checkFunction.js'
import { checkReason } from '../argument/checkReason.js'
import { checkTaskId } from '../argument/checkTaskId.js'
import { checkType } from '../argument/checkType.js'
import { BlobSweep } from '../blobs/blobSweep.js'
import type { DeadLetters } from '../deadLetters/deadLetters.js'
import { RunnerDisposedError } from '../errors/runnerDisposedError.js'
import type { StoredTask } from '../store/storedTask.js'
import type { Task } from '../task/task.js'
import type { TaskTreeNode } from '../task/taskTreeNode.js'
import type { TaskUpdate } from '../task/taskUpdate.js'
import { createErrorReporter } from '../telemetry/createErrorReporter.js'
import { systemClock } from '../time/systemClock.js'
import type { RegisterWorkerOptions } from '../worker/registerWorkerOptions.js'
import type { Worker } from '../worker/worker.js'
import { WorkerRuntime } from '../worker/workerRuntime.js'
import { Cancellation } from './cancellation.js'
import { checkCapabilities } from './checkCapabilities.js'
import { Dispatcher } from './dispatcher.js'
import { ExpirySweep } from './expirySweep.js'
import { HandlerRegistry } from './handlerRegistry.js'
import { LeaseSweep } from './leaseSweep.js'
import { Maintenance } from './maintenance.js'
import { presentTask } from './presentTask.js'
import { readTree } from './readTree.js'
import { Reconciler } from './reconciler.js'
import { OrphanSweep } from './orphanSweep.js'
import { RetentionSweep } from './retentionSweep.js'
import { RunnerDeadLetters } from './runnerDeadLetters.js'
import type { RunnerParts } from './runnerParts.js'
import type { StartOptions } from './startOptions.js'
import { setStoreOf } from './storeOf.js'
import { Submission } from './submission.js'
import type { SubmittedTask } from './submittedTask.js'
import type { SubmitOptions } from './submitOptions.js'
import type { TaskRunner } from './taskRunner.js'
import type { TaskRunnerCapabilities } from './taskRunnerCapabilities.js'
import type { TaskRunnerCoreDeps } from './taskRunnerCoreDeps.js'
import { coreSettings, type TaskRunnerCoreOptions } from './taskRunnerCoreOptions.js'
import { TaskWatches } from './taskWatches.js'
import { Trouble, watchRejections } from './trouble.js'
import { UnservedSweep } from './unservedSweep.js'
import { Updates } from './updates.js'
import type { WaitForOptions } from './waitForOptions.js'
import { waitForTask } from './waitForTask.js'

/**
 * A task runner over any queue and any store. Concrete runners extend it, and dispose first the core, then their queue.
 *
 * Where queue and store share a broker (`QueueAdapter.joint`), each step of a task is one atomic step. Otherwise the row
 * is written first, and a reconciler brings those rows into the queue whose entry a crash prevented.
 *
 * `Symbol.asyncDispose` fires the signals of all running handlers, waits until their tasks are ended or handed back, and
 * resolves then. `Symbol.dispose` begins the same and does not wait.
 *
 * @example
 * const runner = new TaskRunnerCore({ injector, bus, blobStore, store, telemetry, queueAdapter: adapter })
 */
export class TaskRunnerCore implements TaskRunner, AsyncDisposable {
  public readonly capabilities: TaskRunnerCapabilities
  public readonly deadLetters: DeadLetters
  readonly #parts: RunnerParts
  readonly #registry = new HandlerRegistry()
  readonly #submission: Submission
  readonly #cancellation: Cancellation
  readonly #watches: TaskWatches
  readonly #maintenance: Maintenance
  /** Disposed workers stay in until their last handler has ended. */
  readonly #workers = new Set<WorkerRuntime>()
  #closing: Promise<void> | undefined

  constructor(deps: TaskRunnerCoreDeps, options: TaskRunnerCoreOptions = {}) {
    const { injector, bus, blobStore, store, telemetry, queueAdapter: adapter } = deps
    const settings = coreSettings(options)
    const { clock = systemClock } = options
    const { persistent, distributed, fleetCapEnforcement, delayedDispatch, brokerSideReclaim } = adapter.capabilities
    this.capabilities = Object.freeze({
      persistent,
      fleetCapEnforcement,
      delayedDispatch,
      maxPayloadBytes: settings.maxPayloadBytes,
      distributed,
    })
    const report = createErrorReporter(telemetry)
    setStoreOf(this, store)
    const trouble = new Trouble(clock)
    checkCapabilities(this, { blobStore, bus, how: settings.capabilityCheck, report })
    this.#parts = {
      injector,
      blobStore,
      store: persistent ? store : watchRejections(store, trouble),
      adapter,
      joint: adapter.joint?.(store),
      telemetry,
      updates: new Updates(bus, report, clock, adapter.scope),
      dispatcher: new Dispatcher(adapter, store, report, trouble),
      registry: this.#registry,
      reapOrphans: (parentId, status) => this.#cancellation.reap(parentId, status),
      settings,
      clock,
      report,
    }
    this.deadLetters = new RunnerDeadLetters(this.#parts, () => this.#assertUsable())
    this.#submission = new Submission(this.#parts, this.#registry)
    this.#cancellation = new Cancellation(this.#parts, (taskIds, reason) => {
      for (const worker of this.#workers) worker.cancel(taskIds, reason)
    })
    this.#watches = new TaskWatches({
      clock,
      read: (taskId) => this.get(taskId),
      subscribe: ({ id, type }, handler) => this.#parts.updates.subscribe(id, handler, type),
      whenReady: ({ type }) => this.#parts.updates.whenReady(type),
      onPollError: (error) => report('watch', error),
    })
    this.#maintenance = new Maintenance({ store, report, closeTimeoutMs: settings.abortTimeoutMs, clock })
    this.#maintenance.add(new ExpirySweep(this.#parts))
    this.#maintenance.add(new OrphanSweep(this.#parts))
    this.#maintenance.add(new RetentionSweep(this.#parts))
    this.#maintenance.add(new UnservedSweep(this.#parts))
    this.#maintenance.add(new BlobSweep(this.#parts, settings.blobSweepIntervalMs))
    if (this.#parts.joint !== undefined) return
    this.#maintenance.add(new Reconciler(this.#parts, trouble))
    if (!brokerSideReclaim) this.#maintenance.add(new LeaseSweep(this.#parts, (stored) => this.#loseRun(stored)))
  }

  public async submit<P>(options: SubmitOptions<P>): Promise<SubmittedTask> {
    this.#assertUsable()
    return await this.#submission.submit(options, 'pending')
  }

  public async submitMany<P>(list: ReadonlyArray<SubmitOptions<P>>): Promise<SubmittedTask[]> {
    this.#assertUsable()
    return this.#submission.submitMany(list)
  }

  public async draft<P>(options: SubmitOptions<P>): Promise<SubmittedTask> {
    this.#assertUsable()
    return this.#submission.submit(options, 'draft')
  }

  public async start<P>(taskId: string, options?: StartOptions<P>): Promise<Task> {
    this.#assertUsable()
    return this.#submission.start(checkTaskId('taskId', taskId), options)
  }

  public async cancel(taskId: string, reason?: string): Promise<void> {
    this.#assertUsable()
    await this.#cancellation.cancel(checkTaskId('taskId', taskId), checkReason(reason))
  }

  public async get(taskId: string): Promise<Task | undefined> {
    this.#assertUsable()
    const stored = await this.#parts.store.get(checkTaskId('taskId', taskId))
    return stored && presentTask(stored)
  }

  public async getTree(taskId: string): Promise<TaskTreeNode> {
    this.#assertUsable()
    return readTree(this.#parts.store, checkTaskId('taskId', taskId))
  }

  public subscribe(taskId: string, handler: (update: TaskUpdate) => void): Disposable {
    this.#assertUsable()
    const { updates, store } = this.#parts
    checkFunction('handler', handler)
    const tell = (update: TaskUpdate): void => handler(update)
    return updates.subscribe(checkTaskId('taskId', taskId), tell, async () => (await store.get(taskId))?.task.type)
  }

  public subscribeByType(type: string, handler: (update: TaskUpdate) => void): Disposable {
    this.#assertUsable()
    checkFunction('handler', handler)
    return this.#parts.updates.subscribeByType(checkType('type', type), (update) => handler(update))
  }

  public updates$(taskId: string): Observable<TaskUpdate> {
    this.#assertUsable()
    return this.#watches.watch(checkTaskId('taskId', taskId))
  }

  public async waitFor<R = unknown>(taskId: string, options: WaitForOptions = {}): Promise<R> {
    this.#assertUsable()
    return (await waitForTask(this, this.#parts.clock, checkTaskId('taskId', taskId), options)) as R
  }

  public registerWorker(options: RegisterWorkerOptions): Worker {
    this.#assertUsable()
    const worker = new WorkerRuntime(this.#parts, options, (ended) => this.#workers.delete(ended))
    this.#workers.add(worker)
    for (const handler of worker.handlers) this.#registry.add(handler)
    return worker
  }

  /** Fires the signals of what runs, hands its tasks back, and stops everything at once. */
  public [Symbol.dispose](): void {
    void this.#close()
  }

  /** The same, and resolves when the handlers have ended and their claims are settled or handed back, or their time is over. */
  public [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }

  /** Never rejects. */
  #close(): Promise<void> {
    this.#closing ??= this.#closeOnce()
    return this.#closing
  }

  async #closeOnce(): Promise<void> {
    const atRest = this.#maintenance[Symbol.asyncDispose]()
    this.#parts.updates[Symbol.dispose]()
    const reason = new RunnerDisposedError()
    this.#watches.fail(reason)
    const closed = await Promise.allSettled([...this.#workers].map((worker) => worker.close(0, reason)))
    for (const result of closed) if (result.status === 'rejected') this.#parts.report('dispose', result.reason)
    await atRest
  }

  #loseRun({ task }: StoredTask): void {
    const attempt = task.attempts.at(-1)?.attempt ?? 0
    for (const worker of this.#workers) worker.loseRun(task.id, attempt)
  }

  #assertUsable(): void {
    if (this.#closing !== undefined) throw new RunnerDisposedError()
  }
}
