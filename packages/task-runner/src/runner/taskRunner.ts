import { defineService, type Token } from '@furystack/inject'
import type { Observable } from 'rxjs'

import type { DeadLetters } from '../deadLetters/deadLetters.js'
import type { Task } from '../task/task.js'
import type { TaskTreeNode } from '../task/taskTreeNode.js'
import type { TaskUpdate } from '../task/taskUpdate.js'
import type { RegisterWorkerOptions } from '../worker/registerWorkerOptions.js'
import type { Worker } from '../worker/worker.js'
import type { StartOptions } from './startOptions.js'
import type { SubmittedTask } from './submittedTask.js'
import type { SubmitOptions } from './submitOptions.js'
import type { TaskRunnerCapabilities } from './taskRunnerCapabilities.js'
import type { WaitForOptions } from './waitForOptions.js'

/**
 * Runs tasks outside the request that asks for them.
 *
 * Invalid arguments are an `InvalidArgumentError` before anything is written. After disposal every method throws or
 * rejects with an `Error` that says "disposed".
 *
 * @example
 * const runner = injector.get(TaskRunner)
 * const task = await runner.submit({ type: 'send-mail', handlerVersion: 1, payload: { to: 'a@example.org' } })
 * const result = await runner.waitFor(task.id, { timeoutMs: 60_000 })
 */
export interface TaskRunner extends Disposable {
  /** What it can do. */
  readonly capabilities: TaskRunnerCapabilities
  /** What has failed for good, to be looked at and sent again. */
  readonly deadLetters: DeadLetters

  /**
   * Stores a task and queues it; resolves once both are done. With an idempotency key whose task exists already,
   * resolves with that task, marked as `isDuplicate` (a draft is started by this). Rejects with a `PayloadError` for a
   * payload that JSON does not keep, an `IdempotencyConflictError` for a key that belongs to another payload, an
   * `UnsupportedDelayError` for a `notBefore` that the queue cannot keep, an `UnknownTaskError` for a parent that does not
   * exist, or a `ParentEndedError` for one that is over or has been told to cancel.
   */
  submit<P>(options: SubmitOptions<P>): Promise<SubmittedTask>

  /**
   * Submits many tasks, and resolves with them in their order: all or none. If one is refused, because its key belongs to
   * another payload, say, none is submitted. Over Redis a list of more than 500 tasks or 16 MiB of payloads is looked at as a
   * whole, then created so many at a time: what stands in front of a key that is taken meanwhile, or of a fault, may have been
   * submitted when it rejects. With rows of a store that has no `createMany` it holds for what can be checked before anything
   * is written. A key may come twice in a list, with one payload, and is one task.
   */
  submitMany<P>(list: ReadonlyArray<SubmitOptions<P>>): Promise<SubmittedTask[]>

  /** Stores a task that is not to run before it is started. Rejects like `submit`. */
  draft<P>(options: SubmitOptions<P>): Promise<SubmittedTask>

  /**
   * Queues a draft. Rejects with an `UnknownTaskError`, or with an `InvalidTaskStateError` if it is no draft (any more).
   */
  start<P>(taskId: string, options?: StartOptions<P>): Promise<Task>

  /**
   * Cancels a task and all its descendants. A queued task is cancelled when this resolves; a running one has been told
   * to stop and is `cancelled` when it did. An unknown or terminal task is left alone.
   *
   * @param reason at most 4096 characters; an empty one is none.
   */
  cancel(taskId: string, reason?: string): Promise<void>

  /** The row of a task as it is; `undefined` for one that does not exist (any more). */
  get(taskId: string): Promise<Task | undefined>

  /** The task with all its descendants; children that do not exist are left out. Rejects with an `UnknownTaskError`. */
  getTree(taskId: string): Promise<TaskTreeNode>

  /**
   * Calls `handler` for each update of one task, from whatever process. Updates of this runner arrive synchronously;
   * those of others once the bus listens, shortly after this returns. What `handler` throws is reported to telemetry.
   */
  subscribe(taskId: string, handler: (update: TaskUpdate) => void): Disposable

  /** Like `subscribe`, for all tasks of a type. */
  subscribeByType(type: string, handler: (update: TaskUpdate) => void): Disposable

  /**
   * What happens to a task, until it has ended: first its status as it is, then each transition and each report of
   * progress, none of them twice; but not that it is pending, if this is heard of after its claim. Completes after a
   * terminal status.
   *
   *     (s---r--p--p--(e|)    a status, running, progress, succeeded
   *     (e|)                  a task that has ended already
   *
   * Cold: a subscription listens to the updates first and reads the row then, so that nothing falls between; and reads it
   * again now and then (after 250 ms at first, every 5 s in the end), so that an update which a bus has lost or kept to
   * another process only comes late. Errors: an `UnknownTaskError`, what the first reading throws, or a
   * `RunnerDisposedError`. Unsubscribe: leaves no listener and no timer. Buffers: nothing, once the row has been read.
   */
  updates$(taskId: string): Observable<TaskUpdate>

  /**
   * Resolves with the result of a task once it has succeeded. Rejects with a `TaskFailedError` or a `TaskCancelledError`
   * if it ended otherwise, with an `UnknownTaskError`, with a `WaitTimeoutError` after `timeoutMs`, or with the reason
   * of the signal. Works like {@link updates$}; the task itself is left alone.
   */
  waitFor<R = unknown>(taskId: string, options?: WaitForOptions): Promise<R>

  /** Starts a worker in this process. */
  registerWorker(options: RegisterWorkerOptions): Worker
}

/**
 * The task runner of the application. There is no default: bind an implementation.
 *
 * @example
 * injector.bind(TaskRunner, defineInProcessTaskRunner())
 */
export const TaskRunner: Token<TaskRunner, 'singleton'> = defineService({
  name: 'furystack/task-runner/TaskRunner',
  lifetime: 'singleton',
  factory: (): TaskRunner => {
    throw new Error(
      'No task runner is bound. Bind one to the TaskRunner token, for example ' +
        'injector.bind(TaskRunner, defineInProcessTaskRunner())',
    )
  },
})
