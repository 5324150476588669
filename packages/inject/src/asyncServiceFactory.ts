import type { ServiceContext } from './serviceContext.js'

/**
 * A factory that builds a service asynchronously; the counterpart of `ServiceFactory` for async tokens.
 *
 * @example
 * const connect: AsyncServiceFactory<Client> = async ({ onDispose }) => {
 *   const client = await Client.connect()
 *   onDispose(() => client.close())
 *   return client
 * }
 */
export type AsyncServiceFactory<S> = (ctx: ServiceContext) => Promise<S>
