import { printable, quoted } from '@furystack/task-runner'

import { LaneError } from './laneError.js'

/**
 * An option was refused when it was given. The message names the option, the value and what is allowed.
 *
 * @example
 * new InvalidOptionError('blockTimeoutMs', -1, 'a whole number of milliseconds from 1 to 60000').message
 * // 'blockTimeoutMs: -1 is not a whole number of milliseconds from 1 to 60000'
 */
export class InvalidOptionError extends LaneError {
  readonly code = 'invalid-option'
  readonly effect = 'excluded'

  constructor(
    /** The name of the option. */
    readonly option: string,
    /** What was given; of what may hold a password, only its kind. */
    readonly value: unknown,
    /** What it has to be. */
    readonly allowed: string,
  ) {
    super(`${printable(option)}: ${describe(value)} is not ${allowed}`)
  }
}

const describe = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return printable(String(value))
}
