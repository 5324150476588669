import { isError } from './isError.js'

/** Whether a value is an error that carries a mark. Never throws, whatever the value does when it is asked. */
export const isBranded = (value: unknown, brand: symbol): value is Error => {
  try {
    return isError(value) && brand in value
  } catch {
    return false
  }
}
