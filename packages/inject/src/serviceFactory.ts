import type { ServiceContext } from './serviceContext.js'

/**
 * A factory that builds a service at once. As it does not know the lifetime it is going to serve, its context accepts
 * singleton tokens only.
 *
 * @example
 * const rows = (): ServiceFactory<Map<string, string>> => ({ onDispose }) => {
 *   const map = new Map<string, string>()
 *   onDispose(() => map.clear())
 *   return map
 * }
 */
export type ServiceFactory<S> = (ctx: ServiceContext) => S
