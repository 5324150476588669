import { isBranded } from './isBranded.js'

const BRAND = Symbol.for('@furystack/task-runner/NonRetryableError')

/**
 * Tells whether a thrown value forbids further attempts, also when it comes from another copy of this package.
 *
 * @example
 * isNonRetryableError(new NonRetryableError('bad address')) // true
 */
export const isNonRetryableError = (value: unknown): value is Error => isBranded(value, BRAND)
