import { checkNumber } from './checkNumber.js'

/** Answers the value if it can be a limit of deliveries. */
export const checkMaxDeliveries = (value: unknown): number =>
  checkNumber('maxDeliveries', value, { min: 1, integer: true, infinity: 'no limit' })
