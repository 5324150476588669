import { isError } from '../errors/isError.js'
import { messageOf } from '../errors/messageOf.js'
import type { AttemptError } from '../store/finishAttempt.js'

/** UTF-16 units that a row keeps: enough to see what happened, and not a log. */
const MAX_NAME = 256
const MAX_MESSAGE = 8_192
const MAX_STACK = 16_384
/** Causes whose stacks are kept; also what ends a circle of them. */
const MAX_CAUSES = 4

/** What is kept of whatever a handler threw: bounded, and never throwing itself. */
export const toAttemptError = (thrown: unknown): AttemptError => {
  const message = clip(messageOf(thrown), MAX_MESSAGE)
  if (!isError(thrown)) return { name: 'Error', message }
  const stack = stackOf(thrown)
  return {
    name: clip(textAt(thrown, 'name') ?? 'Error', MAX_NAME),
    message,
    ...(stack !== undefined && { stack: clip(stack, MAX_STACK) }),
  }
}

/** Its stack, and those of what caused it: often the only word of what went wrong, as of "fetch failed". */
const stackOf = (thrown: Error): string | undefined => {
  const own = textAt(thrown, 'stack')
  if (own === undefined) return undefined
  const stacks = [own]
  for (let cause = causeOf(thrown); cause !== undefined && stacks.length <= MAX_CAUSES; cause = causeOf(cause)) {
    stacks.push(clip((isError(cause) ? textAt(cause, 'stack') : undefined) ?? messageOf(cause), MAX_STACK))
  }
  return stacks.join('\ncaused by: ')
}

const causeOf = (error: unknown): unknown => {
  try {
    return isError(error) ? error.cause : undefined
  } catch {
    return undefined
  }
}

/** A member that is text; any may be a getter that throws. */
const textAt = (error: Error, key: 'name' | 'stack'): string | undefined => {
  try {
    const value: unknown = error[key]
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** Does not cut a pair of surrogates in two. */
const clip = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).replace(/\p{Surrogate}$/u, '')}…` : text
