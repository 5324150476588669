import { isBranded } from './isBranded.js'
import type { NotNowError } from './notNowError.js'

const BRAND = Symbol.for('@furystack/task-runner/NotNowError')

/**
 * Tells whether a thrown value asks to run the task later, also when it comes from another copy of this package.
 *
 * @example
 * try {
 *   ctx.notNow(60_000)
 * } catch (error) {
 *   if (isNotNowError(error)) throw error // it is for the runner
 * }
 */
export const isNotNowError = (value: unknown): value is NotNowError => isBranded(value, BRAND) && delayOf(value) >= 0

const delayOf = (value: object): number => {
  try {
    return 'delayMs' in value ? Number(value.delayMs) : Number.NaN
  } catch {
    return Number.NaN
  }
}
