import type { Lifetime } from './lifetime.js'
import type { SyncToken } from './syncToken.js'

/**
 * The `inject` function of a factory context. A singleton may only depend on singletons; the type distributes over the
 * lifetime, so a context of unknown lifetime is as strict as that of a singleton.
 *
 * @example
 * const injectClock = (inject: InjectFn<'scoped'>) => inject(Clock)
 */
export type InjectFn<P extends Lifetime = Lifetime> = P extends 'singleton'
  ? <S>(token: SyncToken<S, 'singleton'>) => S
  : <S>(token: SyncToken<S>) => S
