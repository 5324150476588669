import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import {
  type AnyTaskHandlerDescriptor,
  defineInProcessTaskRunner,
  MemoryTaskStore,
  TaskRunner,
  type TaskRunnerCoreOptions,
  TaskRunnerTelemetryToken,
  TaskStore,
  type Worker,
} from '@furystack/task-runner'
import { onTestFinished } from 'vitest'

import { startService } from './service.js'

/** A runner with all that is below it, to be held against another one. */
export interface Stack {
  readonly name: string
  readonly runner: TaskRunner
  /** What the runner reported as its own trouble. */
  readonly troubles: ReadonlyArray<{ operation: string; error: unknown }>
  readonly work: (handlers: AnyTaskHandlerDescriptor[], options?: { concurrency?: number; tags?: string[] }) => Worker
  /** Whether nothing has ever been written. */
  readonly isUntouched: () => Promise<boolean>
}

/** Starts the stack in this process and the one over Redis; they end with their test. */
export const startStacks = async (options: TaskRunnerCoreOptions = {}): Promise<Stack[]> => {
  const { runner, troubles, work, client, prefix } = await startService(options)
  return [
    startInProcess(options),
    {
      name: 'over Redis',
      runner,
      troubles,
      work,
      isUntouched: async () => (await client.keys(`${prefix}*`)).length === 0,
    },
  ]
}

const startInProcess = (options: TaskRunnerCoreOptions): Stack => {
  const injector = createInjector()
  const store = new CountingTaskStore()
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  injector.bind(TaskStore, () => store)
  injector.bind(TaskRunner, defineInProcessTaskRunner(options))
  const troubles: Array<{ operation: string; error: unknown }> = []
  injector.get(TaskRunnerTelemetryToken).addListener('onTaskRunnerError', (trouble) => troubles.push(trouble))
  const runner = injector.get(TaskRunner)
  onTestFinished(() => injector[Symbol.asyncDispose]())
  return {
    name: 'in process',
    runner,
    troubles,
    work: (handlers, { concurrency = 4, tags = [] } = {}) =>
      runner.registerWorker({ name: 'worker', handlers, concurrency, tags, compatibleVersions: {} }),
    isUntouched: () => Promise.resolve(store.creations === 0),
  }
}

class CountingTaskStore extends MemoryTaskStore {
  creations = 0

  override create(...args: Parameters<MemoryTaskStore['create']>): ReturnType<MemoryTaskStore['create']> {
    this.creations++
    return super.create(...args)
  }
}

/** What a call comes to: its value, or the name and the message of its error. */
export const settled = async <T>(
  call: () => T | Promise<T>,
): Promise<{ value: T } | { refused: string; why: string }> => {
  try {
    return { value: await call() }
  } catch (error) {
    const { name, message } = error as Error
    return { refused: name, why: message }
  }
}
