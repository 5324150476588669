import type { AsyncToken } from './asyncToken.js'
import type { Lifetime } from './lifetime.js'
import type { SyncToken } from './syncToken.js'

/**
 * A token of either kind, for code that does not care whether the service is built synchronously.
 *
 * @example
 * const load = <S>(injector: Injector, token: AnyToken<S>): Promise<S> => injector.getAsync(token)
 */
export type AnyToken<S, L extends Lifetime = Lifetime> = SyncToken<S, L> | AsyncToken<S, L>
