import type { AsyncServiceFactory } from './asyncServiceFactory.js'
import type { Lifetime } from './lifetime.js'
import type { ServiceFactory } from './serviceFactory.js'

/**
 * The description of a service: what it is called, how long it lives and how it is built. Two tokens are the same
 * service only if they carry the same `id`; names are for people. A token is a plain object that may be given further
 * members with `Object.assign`.
 *
 * @example
 * const Clock: Token<{ now: () => number }, 'singleton'> = defineService({
 *   name: 'Clock',
 *   lifetime: 'singleton',
 *   factory: () => ({ now: Date.now }),
 * })
 */
export type Token<S, L extends Lifetime = Lifetime, A extends boolean = false> = {
  /** The identity of the service. */
  readonly id: symbol
  /** A name for messages and logs. */
  readonly name: string
  /** How long an instance lives. */
  readonly lifetime: L
  /** Whether the factory returns a promise. */
  readonly isAsync: A
  /** The factory that applies as long as nothing else is bound. */
  readonly factory: ServiceFactory<S> | AsyncServiceFactory<S>
  /** Carries the service type for the compiler; never set at run time. */
  readonly __type?: S
}
