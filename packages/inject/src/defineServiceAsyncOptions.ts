import type { Lifetime } from './lifetime.js'
import type { ServiceContext } from './serviceContext.js'

/**
 * What `defineServiceAsync` needs to know about a service.
 *
 * @example
 * const options: DefineServiceAsyncOptions<Client, 'singleton'> = {
 *   name: 'Client',
 *   lifetime: 'singleton',
 *   factory: () => Client.connect(),
 * }
 */
export type DefineServiceAsyncOptions<S, L extends Lifetime> = {
  /** A name for messages and logs. */
  name: string
  /** How long an instance lives; there is no default. */
  lifetime: L
  /** Builds an instance and promises it. */
  factory: (ctx: ServiceContext<L>) => Promise<S>
}
