import { InMemoryBlobStore } from '@furystack/blob-store'
import { InProcessCrossNodeBus, type CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { onTestFinished } from 'vitest'

import {
  defineTaskHandler,
  MemoryTaskStore,
  TaskRunnerCore,
  TaskRunnerTelemetry,
  type DefineTaskHandlerOptions,
  type QueueAdapter,
  type RegisterWorkerOptions,
  type SubmitOptions,
  type Task,
  type TaskContext,
  type TaskRunnerCoreOptions,
  type TaskRunnerTelemetryEvents,
  type TaskStore,
  type Worker,
} from '../../src/index.js'
import { FakeQueueAdapter } from './fakeQueueAdapter.js'

export type TestHandler = (ctx: TaskContext<unknown>, payload: unknown) => unknown

/** A handler of version 1 of the type `mail`. */
export const handle = (handler: TestHandler, more: Partial<DefineTaskHandlerOptions<unknown, unknown>> = {}) =>
  defineTaskHandler<unknown, unknown>({ type: 'mail', version: 1, handler, ...more })

/** What a test wants to be different. */
export interface CoreSetup<Adapter extends QueueAdapter = FakeQueueAdapter> extends TaskRunnerCoreOptions {
  queueAdapter?: Adapter
  store?: TaskStore
  bus?: CrossNodeBus
}

/** A core over a fake queue, with everything that it tells. It is disposed at the end of the test. */
export const setUpCore = <Adapter extends QueueAdapter = FakeQueueAdapter>(setup: CoreSetup<Adapter> = {}) => {
  const {
    queueAdapter = new FakeQueueAdapter() as unknown as Adapter,
    store = new MemoryTaskStore(),
    bus = new InProcessCrossNodeBus(),
    ...options
  } = setup
  const telemetry = new TaskRunnerTelemetry()
  const errors: Array<TaskRunnerTelemetryEvents['onTaskRunnerError']> = []
  telemetry.addListener('onTaskRunnerError', (event) => errors.push(event))
  const blobStore = new InMemoryBlobStore({ name: 'blobs' })
  const injector = createInjector()
  const core = new TaskRunnerCore(
    { injector, bus, blobStore, store, telemetry, queueAdapter },
    { abortTimeoutMs: 50, parkSleepsAfterMs: Infinity, expiryIntervalMs: Infinity, ...options },
  )
  onTestFinished(async () => core[Symbol.asyncDispose]())

  const register = (
    handlers: TestHandler | RegisterWorkerOptions['handlers'],
    more: Partial<RegisterWorkerOptions> = {},
  ): Worker =>
    core.registerWorker({
      name: 'worker',
      handlers: typeof handlers === 'function' ? [handle(handlers)] : handlers,
      concurrency: 10,
      tags: [],
      compatibleVersions: {},
      ...more,
    })

  const submit = (more: Partial<SubmitOptions<unknown>> = {}): Promise<Task> =>
    core.submit({ type: 'mail', handlerVersion: 1, payload: { n: 1 }, ...more })

  const read = async (taskId: string): Promise<Task> => {
    const task = await core.get(taskId)
    if (task === undefined) throw new Error(`no task ${taskId}`)
    return task
  }

  return { core, adapter: queueAdapter, store, bus, telemetry, errors, injector, blobStore, register, submit, read }
}
