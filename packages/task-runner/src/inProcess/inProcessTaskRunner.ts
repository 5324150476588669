import { TaskRunnerCore } from '../runner/taskRunnerCore.js'
import { MemoryTaskStore } from '../store/memory/memoryTaskStore.js'
import { systemClock } from '../time/systemClock.js'
import { InProcessQueueAdapter } from './inProcessQueueAdapter.js'
import type { InProcessTaskRunnerDeps } from './inProcessTaskRunnerDeps.js'
import type { InProcessTaskRunnerOptions } from './inProcessTaskRunnerOptions.js'

/**
 * A task runner whose queue is the memory of this process: for applications of one process, for development and for
 * tests. Disposing it disposes its queue, not its dependencies.
 *
 * @example
 * await using runner = new InProcessTaskRunner({ injector, bus, blobStore, telemetry })
 */
export class InProcessTaskRunner extends TaskRunnerCore {
  readonly #queueAdapter: InProcessQueueAdapter

  constructor({ store, ...deps }: InProcessTaskRunnerDeps, options: InProcessTaskRunnerOptions = {}) {
    const queueAdapter = new InProcessQueueAdapter(options)
    const { clock = systemClock } = options
    super({ ...deps, store: store ?? new MemoryTaskStore({ now: () => clock.now() }), queueAdapter }, options)
    this.#queueAdapter = queueAdapter
  }

  /** Fires the signals of what runs, and stops everything at once. */
  public override [Symbol.dispose](): void {
    super[Symbol.dispose]()
    this.#queueAdapter[Symbol.dispose]()
  }

  /** The same, and resolves when the handlers have ended, or their time for that is over. */
  public override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await this.#queueAdapter[Symbol.asyncDispose]()
  }
}
