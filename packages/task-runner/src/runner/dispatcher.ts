import type { EnqueueInput, QueueAdapter } from '../queue/queueAdapter.js'
import type { TaskStore } from '../store/taskStore.js'
import type { Task } from '../task/task.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { Trouble } from './trouble.js'

/** What a queue has to know of a task. */
type QueuedTask = Pick<Task, 'id' | 'type' | 'handlerVersion' | 'tags'>

/**
 * Brings pending tasks into the queue, where row and entry are two steps. The store marks rows that have not got their
 * entry yet; the mark comes off when the queue has the entry for as long as the row lives. A queue that ends with its
 * process never takes it off: the next process has to find the row again.
 */
export class Dispatcher {
  constructor(
    private readonly adapter: QueueAdapter,
    private readonly store: TaskStore,
    private readonly report: ReportError,
    private readonly trouble: Trouble,
  ) {}

  /**
   * Queues a task that has had so many attempts. Rejects if the queue refuses; the row stays marked then, and is tried
   * again later.
   */
  async dispatch(task: QueuedTask, attempts: number, notBefore?: number): Promise<void> {
    const { id, type, handlerVersion, tags } = task
    const input: EnqueueInput = { taskId: id, type, handlerVersion, tags }
    if (notBefore !== undefined) input.notBefore = new Date(notBefore)
    try {
      await this.adapter.enqueue(input)
    } catch (error) {
      this.trouble.note()
      throw error
    }
    if (!this.adapter.capabilities.persistent) return
    try {
      await this.store.markEnqueued(id, attempts)
    } catch (error) {
      // The entry is there; at worst a second one will be, which does no harm.
      this.report('markEnqueued', error)
    }
  }

  /** The same for a task that nobody is waiting for: what fails is reported. */
  async tryDispatch(task: QueuedTask, attempts: number, notBefore?: number): Promise<void> {
    try {
      await this.dispatch(task, attempts, notBefore)
    } catch (error) {
      this.report('enqueue', error)
    }
  }
}
