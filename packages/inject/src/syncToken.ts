import type { Lifetime } from './lifetime.js'
import type { Token } from './token.js'

/**
 * A token whose factory returns the service at once. Only such tokens are accepted by `get` and `inject`.
 *
 * @example
 * const read = <S>(injector: Injector, token: SyncToken<S>): S => injector.get(token)
 */
export type SyncToken<S, L extends Lifetime = Lifetime> = Token<S, L, false>
