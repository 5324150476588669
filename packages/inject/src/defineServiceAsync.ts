import type { DefineServiceAsyncOptions } from './defineServiceAsyncOptions.js'
import type { Lifetime } from './lifetime.js'
import type { Token } from './token.js'

/**
 * Defines a service that is built asynchronously and returns its token. It is resolved by `getAsync` and `injectAsync`
 * only. Every call makes a new identity, and the factory is not called yet. Never throws.
 *
 * @example
 * import { createClient } from 'redis'
 * const Cache = defineServiceAsync({
 *   name: 'Cache',
 *   lifetime: 'singleton',
 *   factory: async ({ onDispose }) => {
 *     const client = await createClient().connect()
 *     onDispose(() => client.close())
 *     return client
 *   },
 * })
 */
export const defineServiceAsync = <S, L extends Lifetime>(
  options: DefineServiceAsyncOptions<S, L>,
): Token<S, L, true> => ({
  id: Symbol(options.name),
  name: options.name,
  lifetime: options.lifetime,
  isAsync: true,
  factory: options.factory,
})
