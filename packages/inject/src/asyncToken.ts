import type { Lifetime } from './lifetime.js'
import type { Token } from './token.js'

/**
 * A token whose factory returns a promise of the service. It is resolved by `getAsync` and `injectAsync`.
 *
 * @example
 * const open = <S>(injector: Injector, token: AsyncToken<S>): Promise<S> => injector.getAsync(token)
 */
export type AsyncToken<S, L extends Lifetime = Lifetime> = Token<S, L, true>
