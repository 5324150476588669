import { InvalidArgumentError } from '../errors/invalidArgumentError.js'

// Half a surrogate pair: it would become another character on its way through UTF-8, and with it another key.
const LONE_SURROGATE = /\p{Surrogate}/u

/** Answers the value if it is a non-empty, well-formed string without NUL of at most `maxLength` UTF-16 units. */
export const checkText = (property: string, value: unknown, maxLength: number): string => {
  if (typeof value !== 'string' || value === '') throw new InvalidArgumentError(property, value, 'a non-empty string')
  if (value.length > maxLength) throw new InvalidArgumentError(property, value, `at most ${maxLength} characters long`)
  if (LONE_SURROGATE.test(value)) throw new InvalidArgumentError(property, value, 'well-formed Unicode')
  if (value.includes('\0')) throw new InvalidArgumentError(property, value, 'free of NUL characters')
  return value
}
