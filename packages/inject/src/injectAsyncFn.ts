import type { AnyToken } from './anyToken.js'
import type { Lifetime } from './lifetime.js'

/**
 * The `injectAsync` function of a factory context. It takes tokens of either kind under the same lifetime rules as
 * `InjectFn` and reports every failure as a rejection.
 *
 * @example
 * const injectDatabase = (injectAsync: InjectAsyncFn<'scoped'>) => injectAsync(Database)
 */
export type InjectAsyncFn<P extends Lifetime = Lifetime> = P extends 'singleton'
  ? <S>(token: AnyToken<S, 'singleton'>) => Promise<S>
  : <S>(token: AnyToken<S>) => Promise<S>
