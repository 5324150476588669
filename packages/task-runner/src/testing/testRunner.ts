import type { Injector } from '@furystack/inject'

import type { TaskRunner } from '../runner/taskRunner.js'
import type { Worker } from '../worker/worker.js'

/** A runner for one test, and what belongs to it. Disposing it disposes all of it. */
export interface TestRunner extends AsyncDisposable {
  readonly injector: Injector
  readonly runner: TaskRunner
  /** There if handlers were given. */
  readonly worker?: Worker
}
