import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector, type Injector } from '@furystack/inject'

import { defineInProcessTaskRunner } from '../inProcess/defineInProcessTaskRunner.js'
import { TaskRunner } from '../runner/taskRunner.js'
import { MemoryTaskStore } from '../store/memory/memoryTaskStore.js'
import { TaskStore } from '../store/taskStore.js'
import { ClockDriver } from './clockDriver.js'
import { driverOf } from './driverOf.js'
import type { TestRunner, VirtualTestRunner } from './testRunner.js'
import type { TestRunnerOptions } from './testRunnerOptions.js'
import { VirtualClock } from './virtualClock.js'
import type { VirtualTimeOptions } from './virtualTime.js'

const TIMER_MS = 100

/**
 * What `createTestRunner` answers, which depends on whether it was asked for virtual time.
 *
 * @example
 * const create: CreateTestRunner = createTestRunner
 * await using test = create({ handlers: [sendMail], virtualTime: true })
 * await test.time.advance(60_000)
 */
export interface CreateTestRunner {
  /** A runner in virtual time. */
  (options: TestRunnerOptions & { virtualTime: true | VirtualTimeOptions }): VirtualTestRunner
  /** A runner in real time. */
  (options?: TestRunnerOptions): TestRunner
}

/**
 * A task runner in memory with an injector of its own, bound to the `TaskRunner` token there, and a blob store named
 * `test-blobs`. Its reconciler and its sweeps run every 100 ms unless the options say otherwise. With `virtualTime` it has
 * a clock of its own, which the test moves.
 *
 * @example
 * import { expect } from 'vitest'
 * await using test = createTestRunner({ handlers: [sendMail], virtualTime: true })
 * const notBefore = new Date(test.time.now + 3 * 86_400_000)
 * const task = await test.runner.submit({ type: 'send-mail', handlerVersion: 1, payload: { to: 'a@example.org' }, notBefore })
 * await test.time.advance(3 * 86_400_000)
 * expect(await test.runner.waitFor(task.id)).toEqual({ sent: true })
 */
export const createTestRunner = ((options: TestRunnerOptions = {}): TestRunner => {
  const { handlers = [], workerConcurrency = 4, compatibleVersions = {}, virtualTime = false, ...rest } = options
  const injector = createInjector()
  injector.bind(BlobStore, () => new InMemoryBlobStore({ name: 'test-blobs' }))
  const clock = virtualTime === false ? undefined : bindVirtualClock(injector, virtualTime === true ? {} : virtualTime)
  const timers = { reconcilerIntervalMs: TIMER_MS, sweepIntervalMs: TIMER_MS, expiryIntervalMs: TIMER_MS }
  injector.bind(TaskRunner, defineInProcessTaskRunner({ ...timers, ...rest, ...(clock && { clock }) }))
  const runner = injector.get(TaskRunner)
  const time = clock && new ClockDriver(clock)
  if (time) driverOf.set(runner, time)
  const worker = { name: 'test-worker', handlers: [...handlers], concurrency: workerConcurrency, tags: [] }
  return {
    injector,
    runner,
    ...(handlers.length > 0 && { worker: runner.registerWorker({ ...worker, compatibleVersions }) }),
    ...(time && { time }),
    [Symbol.asyncDispose]: async () => {
      const disposal = injector[Symbol.asyncDispose]()
      // Its limits for handlers that do not end are a matter of time too.
      await (time ? time.until(disposal) : disposal)
    },
  }
}) as CreateTestRunner

const bindVirtualClock = (injector: Injector, { startAt = new Date() }: VirtualTimeOptions): VirtualClock => {
  const clock = new VirtualClock(startAt.getTime())
  const store = new MemoryTaskStore({ now: clock.now })
  clock.watch(() => store.nextDue)
  injector.bind(TaskStore, () => store)
  return clock
}
