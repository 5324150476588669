import { isBranded } from './isBranded.js'
import type { SuspendedError } from './suspendedError.js'

const BRAND = Symbol.for('@furystack/task-runner/SuspendedError')

/**
 * Tells whether a caught value is the suspension of a run, also when it comes from another copy of this package.
 *
 * @example
 * catch (error) { if (isSuspendedError(error)) throw error }
 */
export const isSuspendedError = (value: unknown): value is SuspendedError => isBranded(value, BRAND)
