import type { AttemptError } from '../store/finishAttempt.js'

/** What is kept of whatever a handler threw. */
export const toAttemptError = (thrown: unknown): AttemptError => {
  if (!(thrown instanceof Error)) return { name: 'Error', message: textOf(thrown) }
  const { name, message, stack } = thrown
  return { name: textOf(name), message: textOf(message), ...(typeof stack === 'string' && { stack }) }
}

/** An object without a prototype, for one, has no text. */
const textOf = (value: unknown): string => {
  try {
    return String(value)
  } catch {
    return 'a value without a text form was thrown'
  }
}
