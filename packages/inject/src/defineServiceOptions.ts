import type { Lifetime } from './lifetime.js'
import type { ServiceContext } from './serviceContext.js'

/**
 * What `defineService` needs to know about a service.
 *
 * @example
 * const options: DefineServiceOptions<number, 'transient'> = {
 *   name: 'Dice',
 *   lifetime: 'transient',
 *   factory: () => 1 + Math.floor(Math.random() * 6),
 * }
 */
export type DefineServiceOptions<S, L extends Lifetime> = {
  /** A name for messages and logs. */
  name: string
  /** How long an instance lives; there is no default. */
  lifetime: L
  /** Builds an instance. */
  factory: (ctx: ServiceContext<L>) => S
}
