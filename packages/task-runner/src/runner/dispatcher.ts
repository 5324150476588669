import type { EnqueueInput, QueueAdapter } from '../queue/queueAdapter.js'
import type { TaskStore } from '../store/taskStore.js'
import type { Task } from '../task/task.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'

/** What a queue has to know of a task. */
type QueuedTask = Pick<Task, 'id' | 'type' | 'handlerVersion' | 'tags'>

/**
 * Brings pending tasks into the queue, where row and entry are two steps. The store marks rows that have not got their
 * entry yet; the mark comes off when the queue has the entry for as long as the row lives. A queue that ends with its
 * process never takes it off: the next process has to find the row again.
 */
export class Dispatcher {
  /** Tasks that a queue without memory refused; there, the mark does not tell them from the others. */
  readonly #refused = new Set<string>()
  #early: Set<string> | undefined

  constructor(
    private readonly adapter: QueueAdapter,
    private readonly store: TaskStore,
    private readonly report: ReportError,
  ) {}

  /** Queues a task. Rejects if the queue refuses; the row stays marked then, and is tried again later. */
  async dispatch(task: QueuedTask, notBefore?: number): Promise<void> {
    const { id, type, handlerVersion, tags } = task
    const input: EnqueueInput = { taskId: id, type, handlerVersion, tags }
    if (notBefore !== undefined) input.notBefore = new Date(notBefore)
    if (!this.adapter.capabilities.persistent) return this.#dispatchVolatile(input)
    await this.adapter.enqueue(input)
    try {
      await this.store.markEnqueued(id)
    } catch (error) {
      // The entry is there; at worst a second one will be, which does no harm.
      this.report('markEnqueued', error)
    }
  }

  /** The same for a task that nobody is waiting for: what fails is reported. */
  async tryDispatch(task: QueuedTask, notBefore?: number): Promise<void> {
    try {
      await this.dispatch(task, notBefore)
    } catch (error) {
      this.report('enqueue', error)
    }
  }

  /**
   * From now on remembers what it brings into a queue without memory, so that it can be told from what was pending
   * before. `forgetEarly` ends that.
   */
  rememberEarly(): Set<string> {
    this.#early ??= new Set()
    return this.#early
  }

  forgetEarly(): void {
    this.#early = undefined
  }

  /** Takes the tasks that a queue without memory refused. */
  takeRefused(): string[] {
    const refused = [...this.#refused]
    this.#refused.clear()
    return refused
  }

  async #dispatchVolatile(input: EnqueueInput): Promise<void> {
    this.#early?.add(input.taskId)
    try {
      await this.adapter.enqueue(input)
    } catch (error) {
      this.#refused.add(input.taskId)
      throw error
    }
  }
}
