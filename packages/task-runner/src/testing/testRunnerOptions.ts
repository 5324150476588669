import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'
import type { InProcessTaskRunnerOptions } from '../inProcess/inProcessTaskRunnerOptions.js'
import type { VirtualTimeOptions } from './virtualTime.js'

/**
 * How a test runner differs from the default; the options of a runner in this process are all passed on to it.
 *
 * @example
 * const options: TestRunnerOptions = { handlers: [sendMail], workerConcurrency: 1 }
 * await using test = createTestRunner(options)
 */
export interface TestRunnerOptions extends InProcessTaskRunnerOptions {
  /** The handlers of a worker that is registered at once. @default no worker */
  handlers?: readonly AnyTaskHandlerDescriptor[]
  /** The slots of that worker. @default 4 */
  workerConcurrency?: number
  /** The versions by type that it takes, as for `RegisterWorkerOptions`. @default those of the handlers */
  compatibleVersions?: Record<string, number[]>
  /**
   * Takes all time of the runner, of its queue and of its rows from a clock that the test moves; it is the `time` of the
   * answer. @default false
   */
  virtualTime?: boolean | VirtualTimeOptions
}
