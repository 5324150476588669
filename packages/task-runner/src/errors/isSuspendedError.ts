import { isBranded } from './isBranded.js'
import type { SuspendedError } from './suspendedError.js'

const BRAND = Symbol.for('@furystack/task-runner/SuspendedError')

/**
 * Tells whether a caught value is the suspension of a run, also when it comes from another copy of this package.
 *
 * @example
 * try {
 *   await ctx.spawnChildAndAwait('render', { page: 7 })
 * } catch (error) {
 *   if (isSuspendedError(error)) throw error // it is for the runner
 * }
 */
export const isSuspendedError = (value: unknown): value is SuspendedError => isBranded(value, BRAND)
