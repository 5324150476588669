import type { Injector } from '@furystack/inject'

import type { TaskRunner } from '../runner/taskRunner.js'
import type { Worker } from '../worker/worker.js'
import type { VirtualTime } from './virtualTime.js'

/** A runner for one test, and what belongs to it. Disposing it disposes all of it. */
export interface TestRunner extends AsyncDisposable {
  readonly injector: Injector
  readonly runner: TaskRunner
  /** There if handlers were given. */
  readonly worker?: Worker
  /** There if the options asked for it. */
  readonly time?: VirtualTime
}

/** A {@link TestRunner} in virtual time. */
export interface VirtualTestRunner extends TestRunner {
  readonly time: VirtualTime
}
