import type { ServiceContext } from './serviceContext.js'

/**
 * A factory that builds a service at once. As it does not know the lifetime it is going to serve, its context accepts
 * singleton tokens only.
 *
 * @example
 * const createStore = (): ServiceFactory<Store> => ({ onDispose }) => {
 *   const store = new Store()
 *   onDispose(() => store.close())
 *   return store
 * }
 */
export type ServiceFactory<S> = (ctx: ServiceContext) => S
