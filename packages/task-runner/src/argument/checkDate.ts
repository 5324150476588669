import { InvalidArgumentError } from '../errors/invalidArgumentError.js'

/** Answers the date as epoch milliseconds. */
export const checkDate = (property: string, value: unknown): number => {
  const time = value instanceof Date ? value.getTime() : Number.NaN
  if (Number.isNaN(time)) throw new InvalidArgumentError(property, value, 'a valid Date')
  return time
}
