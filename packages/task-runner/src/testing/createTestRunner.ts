import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'

import { defineInProcessTaskRunner } from '../inProcess/defineInProcessTaskRunner.js'
import { TaskRunner } from '../runner/taskRunner.js'
import type { TestRunner } from './testRunner.js'
import type { TestRunnerOptions } from './testRunnerOptions.js'

const TIMER_MS = 100

/**
 * A task runner in memory with an injector of its own, bound to the `TaskRunner` token there, and a blob store named
 * `test-blobs`. Its reconciler and its sweep run every 100 ms unless the options say otherwise.
 *
 * @example
 * await using test = createTestRunner({ handlers: [sendMail] })
 * const task = await test.runner.submit({ type: 'send-mail', handlerVersion: 1, payload: { to: 'a@example.org' } })
 * expect(await test.runner.waitFor(task.id)).toEqual({ sent: true })
 */
export const createTestRunner = (options: TestRunnerOptions = {}): TestRunner => {
  const { handlers, workerConcurrency = 4, compatibleVersions = {}, ...runnerOptions } = options
  const injector = createInjector()
  const timers = { reconcilerIntervalMs: TIMER_MS, sweepIntervalMs: TIMER_MS }
  injector.bind(BlobStore, () => new InMemoryBlobStore({ name: 'test-blobs' }))
  injector.bind(TaskRunner, defineInProcessTaskRunner({ ...timers, ...runnerOptions }))
  const runner = injector.get(TaskRunner)
  const dispose = async (): Promise<void> => injector[Symbol.asyncDispose]()
  if (handlers === undefined || handlers.length === 0) return { injector, runner, [Symbol.asyncDispose]: dispose }
  const worker = runner.registerWorker({
    name: 'test-worker',
    handlers: [...handlers],
    concurrency: workerConcurrency,
    tags: [],
    compatibleVersions,
  })
  return { injector, runner, worker, [Symbol.asyncDispose]: dispose }
}
