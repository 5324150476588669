import type { ServiceContext } from './serviceContext.js'

/**
 * A factory that builds a service asynchronously; the counterpart of `ServiceFactory` for async tokens.
 *
 * @example
 * import { createClient } from 'redis'
 * const connect: AsyncServiceFactory<{ close(): Promise<void> }> = async ({ onDispose }) => {
 *   const client = await createClient().connect()
 *   onDispose(() => client.close())
 *   return client
 * }
 */
export type AsyncServiceFactory<S> = (ctx: ServiceContext) => Promise<S>
