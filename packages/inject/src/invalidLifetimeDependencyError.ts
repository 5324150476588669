import type { Lifetime } from './lifetime.js'

/**
 * Raised when a service injects one that may not live as long as itself: a singleton anything but a singleton, a scoped
 * service a transient one.
 *
 * @example
 * const Cache = defineService({
 *   name: 'Cache',
 *   lifetime: 'scoped',
 *   factory: ({ inject }) => inject(TransientBuffer), // throws
 * })
 */
export class InvalidLifetimeDependencyError extends Error {
  public override readonly name = 'InvalidLifetimeDependencyError'

  constructor(
    public readonly parentName: string,
    public readonly parentLifetime: Lifetime,
    public readonly childName: string,
    public readonly childLifetime: Lifetime,
  ) {
    super(`The ${parentLifetime} service "${parentName}" cannot depend on the ${childLifetime} service "${childName}"`)
  }
}
