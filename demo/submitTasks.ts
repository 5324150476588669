import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineRedisTaskRunner } from '@furystack/redis-task-runner'
import { type Task, TaskRunner } from '@furystack/task-runner'
import type { HashFilePayload } from './hashFile.js'
import type { DemoRedis } from './openRedis.js'
import type { Plan, PlannedTask } from './plan.js'
import { HANDLER_VERSION } from './settings.js'
import { within } from './within.js'

/** A task that was submitted. */
export interface SubmittedTask {
  readonly planned: PlannedTask
  readonly taskId: string
  /** When it was due first; epoch milliseconds by the clock of Redis. */
  readonly dueAt: number
}

/** A runner without a worker: it submits tasks and reads their rows. */
export interface Submitter extends AsyncDisposable {
  submit(folder: string, plan: Plan, onSubmitted: (task: SubmittedTask) => void): Promise<void>
  /** The rows of tasks, in the same order. */
  read(taskIds: readonly string[]): Promise<(Task | undefined)[]>
}

const BATCH = 100

/** Opens a runner in this process. */
export const openSubmitter = ({ client, prefix }: DemoRedis, signal: AbortSignal): Submitter => {
  const injector = createInjector()
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  const names = { client, serviceName: 'demo', topicPrefix: prefix }
  injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter(names))
  // No task has blobs, so the store may end at this process.
  injector.bind(TaskRunner, defineRedisTaskRunner({ ...names, capabilityCheck: 'off' }))
  const runner = injector.get(TaskRunner)

  const submitOne = async (folder: string, slowdownMs: number, planned: PlannedTask): Promise<SubmittedTask> => {
    const { file, type, delayMs } = planned
    const payload: HashFilePayload = { folder, path: file.path, slowdownMs }
    const task = await runner.submit({
      type,
      handlerVersion: HANDLER_VERSION,
      payload,
      ...(delayMs > 0 && { notBefore: new Date(Date.now() + delayMs) }),
    })
    return { planned, taskId: task.id, dueAt: Date.parse(task.notBefore ?? task.submittedAt) }
  }

  return {
    submit: async (folder, { tasks, slowdownMs }, onSubmitted) => {
      for (let from = 0; from < tasks.length; from += BATCH) {
        signal.throwIfAborted()
        const batch = tasks.slice(from, from + BATCH)
        await Promise.all(batch.map(async (one) => onSubmitted(await submitOne(folder, slowdownMs, one))))
      }
    },
    read: async (taskIds) => {
      const rows: (Task | undefined)[] = []
      for (let from = 0; from < taskIds.length; from += BATCH) {
        signal.throwIfAborted()
        rows.push(...(await Promise.all(taskIds.slice(from, from + BATCH).map((id) => runner.get(id)))))
      }
      return rows
    },
    [Symbol.asyncDispose]: () =>
      within(injector[Symbol.asyncDispose](), { ms: 5_000, what: 'Closing the runner' }).catch(() => undefined),
  }
}
