import { printable, quoted } from '../argument/printable.js'

/**
 * An argument or option that cannot be worked with. It is thrown before anything is written.
 *
 * @example
 * await runner.submit({ type: '', payload: 1, handlerVersion: 1 })
 * // InvalidArgumentError: "type" has to be a non-empty string, not ""
 */
export class InvalidArgumentError extends Error {
  public override readonly name = 'InvalidArgumentError'

  constructor(
    /** Which argument or option. */
    public readonly property: string,
    /** What was given. */
    public readonly value: unknown,
    /** What is allowed, as the end of a sentence that begins with "has to be". */
    public readonly expected: string,
  ) {
    super(`"${printable(property)}" has to be ${expected}, not ${show(value)}`)
  }
}

const show = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return quoted(value)
    case 'symbol':
      return printable(String(value))
    case 'bigint':
      return `${printable(String(value))}n`
    case 'function':
      return 'a function'
    case 'object':
      return value === null ? 'null' : kindOf(value)
    default:
      return String(value)
  }
}

/** A proxy may throw at whatever it is asked. */
const kindOf = (value: object): string => {
  try {
    if (Array.isArray(value)) return `an array of ${value.length}`
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
    return 'an object'
  } catch {
    return 'an object'
  }
}
