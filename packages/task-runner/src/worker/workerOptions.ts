import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'

/** What `defineWorker` takes; see `RegisterWorkerOptions`. */
export interface WorkerOptions {
  /** Also the name of the token. */
  name: string
  /** The handlers that the worker has. */
  types: AnyTaskHandlerDescriptor[]
  /** @default 1 */
  concurrency?: number
  /** @default [] */
  tags?: string[]
  /** @default {}: the versions of the handlers */
  compatibleVersions?: Record<string, number[]>
}
