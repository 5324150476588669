import type { Lifetime } from './lifetime.js'
import type { ServiceContext } from './serviceContext.js'

/**
 * What `defineServiceAsync` needs to know about a service.
 *
 * @example
 * const options: DefineServiceAsyncOptions<{ rate: number }, 'singleton'> = {
 *   name: 'Rates',
 *   lifetime: 'singleton',
 *   factory: async () => (await fetch('https://example.org/rates')).json() as Promise<{ rate: number }>,
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
