import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'

/**
 * What `defineWorker` takes; see `RegisterWorkerOptions`.
 *
 * @example
 * const options: WorkerOptions = { name: 'mail-worker', types: [sendMail], concurrency: 4 }
 * const MailWorker = defineWorker(options)
 */
export interface WorkerOptions {
  /** Also the name of the token. */
  name: string
  /** The handlers that the worker has. */
  types: AnyTaskHandlerDescriptor[]
  /** Tasks that run at the same time, at most. @default 1 */
  concurrency?: number
  /** What the worker offers. @default [] */
  tags?: string[]
  /** The task versions by type that it takes. @default {}: the versions of the handlers */
  compatibleVersions?: Record<string, number[]>
}
