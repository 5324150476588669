import {
  TaskRunnerCore,
  type TaskRunnerCoreDeps,
  type TaskRunnerCoreOptions,
  type TaskStore,
} from '@furystack/task-runner'
import type { Observable } from 'rxjs'

import type { LaneEvent } from '../events/laneEvent.js'
import { type RedisQueueAdapter, redisQueueAdapter } from './redisQueueAdapter.js'
import type { RedisQueueOptions } from './redisQueueOptions.js'

/**
 * Options of the lanes, and of the runner core.
 *
 * @example
 * const options: RedisTaskRunnerOptions = { client, serviceName: 'svc-a', visibilityTimeoutMs: 30_000, drainTimeoutMs: 5_000 }
 */
export type RedisTaskRunnerOptions = RedisQueueOptions & TaskRunnerCoreOptions

/**
 * What a {@link RedisTaskRunner} works with.
 *
 * @example
 * const deps: RedisTaskRunnerDeps = { injector, bus, blobStore, telemetry, store: new MemoryTaskStore() }
 */
export interface RedisTaskRunnerDeps extends Omit<TaskRunnerCoreDeps, 'queueAdapter' | 'store'> {
  /** Where rows live. @default the same Redis, so that each step of a task is one atomic step */
  readonly store?: TaskStore | undefined
}

/**
 * A task runner whose queue, and by default whose rows too, live in Redis: several processes share both.
 *
 * Disposing it fires the signals of running handlers, hands their tasks back, and closes its connections. The client
 * stays open, it is the caller's.
 *
 * @throws {InvalidOptionError} for an option of the lanes out of its range, or a client that is not connected
 * @throws {InvalidArgumentError} for an option of the core out of its range
 *
 * @example
 * await using runner = new RedisTaskRunner({ injector, bus, blobStore, telemetry }, { client, serviceName: 'svc-a' })
 */
export class RedisTaskRunner extends TaskRunnerCore {
  /** What happens in the lanes of this process; see {@link LaneEvent}. */
  readonly events$: Observable<LaneEvent>
  private readonly adapter: RedisQueueAdapter

  constructor({ store, ...deps }: RedisTaskRunnerDeps, options: RedisTaskRunnerOptions) {
    const queueAdapter = redisQueueAdapter(options)
    try {
      super({ ...deps, store: store ?? queueAdapter.store, queueAdapter }, options)
    } catch (error) {
      queueAdapter[Symbol.dispose]()
      throw error
    }
    this.adapter = queueAdapter
    this.events$ = queueAdapter.events$
  }

  /** Fires the signals of what runs, and stops everything at once. */
  override [Symbol.dispose](): void {
    super[Symbol.dispose]()
    this.adapter[Symbol.dispose]()
  }

  /** The same, and resolves when claims are settled or handed back and the connections are closed. */
  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await this.adapter[Symbol.asyncDispose]()
  }
}
