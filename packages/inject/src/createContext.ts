import type { AnyToken } from './anyToken.js'
import type { Instance } from './instance.js'
import type { ServiceContext } from './serviceContext.js'
import type { SyncToken } from './syncToken.js'

/**
 * Makes the context for one run of a factory. Requests are made on behalf of the instance under construction, so every
 * branch of a resolution knows its own ancestors only.
 *
 * @example
 * const build = (instance: Instance, factory: ServiceFactory<Clock>): Clock => factory(createContext(instance))
 */
export const createContext = (instance: Instance): ServiceContext => ({
  inject: <S>(token: SyncToken<S>): S => instance.container.resolve(token, instance),
  injectAsync: <S>(token: AnyToken<S>): Promise<S> => instance.container.resolveAsync(token, instance),
  injector: instance.container.injector,
  token: instance.token,
  onDispose: (callback) => instance.onDispose(callback),
})
