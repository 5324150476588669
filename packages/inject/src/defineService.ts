import type { DefineServiceOptions } from './defineServiceOptions.js'
import type { Lifetime } from './lifetime.js'
import type { Token } from './token.js'

/**
 * Defines a service that is built synchronously and returns its token. Every call makes a new identity, also for a name
 * used before. The factory is not called until an injector is asked for the service. Never throws.
 *
 * @example
 * const Clock = defineService({ name: 'Clock', lifetime: 'singleton', factory: () => ({ now: Date.now }) })
 * createInjector().get(Clock).now()
 */
export const defineService = <S, L extends Lifetime>(options: DefineServiceOptions<S, L>): Token<S, L, false> => ({
  id: Symbol(options.name),
  name: options.name,
  lifetime: options.lifetime,
  isAsync: false,
  factory: options.factory,
})
