import { types } from 'node:util'

/** Whether a value is an error, of this realm or another. Never throws, as `instanceof` does for some proxies. */
export const isError = (value: unknown): value is Error => {
  try {
    return types.isNativeError(value) || value instanceof Error
  } catch {
    return false
  }
}
