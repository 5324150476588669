import { InvalidArgumentError } from '../errors/invalidArgumentError.js'

/** Answers the value if members can be read from it. */
export const checkObject = <T>(property: string, value: T): T => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError(property, value, 'an object')
  }
  return value
}
