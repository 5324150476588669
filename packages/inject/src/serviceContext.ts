import type { AnyToken } from './anyToken.js'
import type { DisposeCallback } from './disposeCallback.js'
import type { InjectAsyncFn } from './injectAsyncFn.js'
import type { InjectFn } from './injectFn.js'
import type { Injector } from './injector.js'
import type { Lifetime } from './lifetime.js'

/**
 * What a factory is given. Every run of a factory gets a context of its own, and its members may be used detached and
 * after the factory has returned.
 *
 * @example
 * const Greeter = defineService({
 *   name: 'Greeter',
 *   lifetime: 'scoped',
 *   factory: ({ inject }) => ({ greet: () => `It is ${inject(Clock).now()}` }),
 * })
 */
export type ServiceContext<L extends Lifetime = Lifetime> = {
  /**
   * Resolves a dependency from the owning injector. Throws `InjectorDisposedError` once that injector is disposed,
   * `InvalidLifetimeDependencyError` for a dependency that would not live long enough, `AsyncTokenInSyncContextError`
   * for an async token, `CircularDependencyError` for a service that waits for this one, or whatever the factory of
   * the dependency throws.
   */
  inject: InjectFn<L>
  /** The asynchronous form of `inject`: takes both kinds of token and reports the same errors as rejections. */
  injectAsync: InjectAsyncFn<L>
  /**
   * The injector that owns the instance: the root for a singleton. Requests made on it directly are independent ones
   * and are not remembered as dependencies of this service.
   */
  injector: Injector
  /** The token under construction, for instance to name a logger. */
  token: AnyToken<unknown>
  /**
   * Registers a teardown step. It runs once: when the owning injector is disposed, when the instance is replaced, or
   * when its factory fails. A step registered after that point runs at once. Nobody but the injector knows a transient
   * instance, so its steps wait until the injector goes: ask for transients that hold resources in a scope.
   */
  onDispose: (callback: DisposeCallback) => void
}
