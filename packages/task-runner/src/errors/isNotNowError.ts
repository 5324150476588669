import type { NotNowError } from './notNowError.js'

const BRAND = Symbol.for('@furystack/task-runner/NotNowError')

/**
 * Tells whether a thrown value asks to run the task later, also when it comes from another copy of this package.
 *
 * @example
 * catch (error) { if (isNotNowError(error)) throw error }
 */
export const isNotNowError = (value: unknown): value is NotNowError =>
  value instanceof Error && BRAND in value && 'delayMs' in value && Number(value.delayMs) >= 0
