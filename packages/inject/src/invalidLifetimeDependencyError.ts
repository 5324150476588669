import type { Lifetime } from './lifetime.js'

/**
 * Raised when a service injects one that may not live as long as itself: a singleton anything but a singleton, a scoped
 * service a transient one.
 *
 * @example
 * const Buffers = defineService({ name: 'Buffers', lifetime: 'transient', factory: () => [] })
 * const Cache = defineService({
 *   name: 'Cache',
 *   lifetime: 'scoped',
 *   factory: ({ inject }) => inject(Buffers), // throws
 * })
 */
export class InvalidLifetimeDependencyError extends Error {
  public override readonly name = 'InvalidLifetimeDependencyError'

  constructor(
    /** The token whose factory asked. */
    public readonly parentName: string,
    /** How long its instance lives. */
    public readonly parentLifetime: Lifetime,
    /** The token that was asked for. */
    public readonly childName: string,
    /** How long that one’s instance lives, which is shorter. */
    public readonly childLifetime: Lifetime,
  ) {
    super(`The ${parentLifetime} service "${parentName}" cannot depend on the ${childLifetime} service "${childName}"`)
  }
}
