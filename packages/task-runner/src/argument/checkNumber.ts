import { InvalidArgumentError } from '../errors/invalidArgumentError.js'

/** What a number has to be like. */
export interface NumberRange {
  min: number
  max?: number
  integer?: boolean
  /** Infinity is allowed, and means what this says. */
  infinity?: string
}

const describe = ({ min, max, integer, infinity }: NumberRange): string => {
  const kind = integer === true ? 'an integer' : 'a number'
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
  return `${kind} ${range}${infinity === undefined ? '' : `, or Infinity (${infinity})`}`
}

/** Answers the value, or throws an {@link InvalidArgumentError} that says what is allowed. */
export const checkNumber = (property: string, value: unknown, range: NumberRange): number => {
  if (typeof value === 'number') {
    if (value === Infinity && range.infinity !== undefined) return value
    const inside = value >= range.min && value <= (range.max ?? Number.MAX_VALUE)
    if (inside && (range.integer !== true || Number.isSafeInteger(value))) return value
  }
  throw new InvalidArgumentError(property, value, describe(range))
}
