import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'

/**
 * A worker to be registered.
 *
 * @example
 * const options: RegisterWorkerOptions = {
 *   name: 'mail',
 *   handlers: [sendMail],
 *   concurrency: 4,
 *   tags: ['eu'],
 *   compatibleVersions: { 'send-mail': [1, 2] },
 * }
 * runner.registerWorker(options)
 */
export interface RegisterWorkerOptions {
  /** For people. */
  name: string
  /** At least one; each (type, version) once. Two versions of one type are fine. */
  handlers: AnyTaskHandlerDescriptor[]
  /** Tasks that run at the same time, at most; an integer of at least 1. */
  concurrency: number
  /** What this worker offers. */
  tags: string[]
  /**
   * The task versions by type that this worker takes. A type with a missing or empty list takes the versions of its
   * handlers. A listed version without a handler of its own goes to the newest handler of the type.
   */
  compatibleVersions: Record<string, number[]>
}
