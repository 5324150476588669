import type { Lifetime } from './lifetime.js'
import type { Token } from './token.js'

/**
 * Tells whether a value is a token. Only the members every token has are looked at, so tokens that were given further
 * members pass. Never throws.
 *
 * @example
 * const nameOf = (value: unknown): string => (isToken(value) ? value.name : 'no token')
 */
export const isToken = (value: unknown): value is Token<unknown, Lifetime, boolean> => {
  if (typeof value !== 'object' || value === null) {
    return false
  }
  const { id, name, lifetime, isAsync, factory } = value as Record<keyof Token<unknown>, unknown>
  return (
    typeof id === 'symbol' &&
    typeof name === 'string' &&
    typeof lifetime === 'string' &&
    typeof isAsync === 'boolean' &&
    typeof factory === 'function'
  )
}
