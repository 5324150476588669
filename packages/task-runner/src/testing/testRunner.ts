import type { Injector } from '@furystack/inject'

import type { TaskRunner } from '../runner/taskRunner.js'
import type { Worker } from '../worker/worker.js'
import type { VirtualTime } from './virtualTime.js'

/**
 * A runner for one test, and what belongs to it. Disposing it disposes all of it.
 *
 * @example
 * await using test: TestRunner = createTestRunner({ handlers: [sendMail] })
 * const task = await test.runner.submit({ type: 'send-mail', handlerVersion: 1, payload: { to: 'a@example.org' } })
 */
export interface TestRunner extends AsyncDisposable {
  /** An injector of its own. */
  readonly injector: Injector
  /** The runner, bound to `TaskRunner` there. */
  readonly runner: TaskRunner
  /** There if handlers were given. */
  readonly worker?: Worker
  /** There if the options asked for it. */
  readonly time?: VirtualTime
}

/**
 * A {@link TestRunner} in virtual time.
 *
 * @example
 * await using test: VirtualTestRunner = createTestRunner({ virtualTime: true })
 * await test.time.advance(3_600_000)
 */
export interface VirtualTestRunner extends TestRunner {
  readonly time: VirtualTime
}
