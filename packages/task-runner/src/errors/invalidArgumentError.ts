const show = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

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
    super(`"${property}" has to be ${expected}, not ${show(value)}`)
  }
}
