import { InvalidArgumentError } from '../errors/invalidArgumentError.js'

/** Answers the value if it can be called. */
export const checkFunction = <T>(property: string, value: T): T => {
  if (typeof value !== 'function') throw new InvalidArgumentError(property, value, 'a function')
  return value
}
