import { isError } from './isError.js'

/** A text for whatever was thrown, which may be anything and may refuse to tell. Never throws. */
export const messageOf = (thrown: unknown): string => {
  try {
    // Read once: what is read may be a getter.
    const message: unknown = isError(thrown) ? thrown.message : thrown
    return typeof message === 'string' ? message : String(message)
  } catch {
    return 'a value without a text form was thrown'
  }
}
