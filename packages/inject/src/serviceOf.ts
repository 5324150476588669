import type { Lifetime } from './lifetime.js'
import type { Token } from './token.js'

/**
 * The service type that a token type stands for, `never` for anything that is not a token.
 *
 * @example
 * type ClockService = ServiceOf<typeof Clock>
 */
export type ServiceOf<T> = T extends Token<infer S, Lifetime, boolean> ? S : never
