import { checkNumber } from './checkNumber.js'

/** Answers the value if it can be the version of a handler. */
export const checkVersion = (property: string, value: unknown): number =>
  checkNumber(property, value, { min: 1, integer: true })
