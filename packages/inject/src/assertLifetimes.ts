import type { AnyToken } from './anyToken.js'
import { InvalidLifetimeDependencyError } from './invalidLifetimeDependencyError.js'
import type { Lifetime } from './lifetime.js'

/**
 * Throws `InvalidLifetimeDependencyError` if a service of the parent token must not depend on one of the child token.
 *
 * @example
 * assertLifetimes(Clock, Database) // fine: both are singletons
 */
export const assertLifetimes = (parent: AnyToken<unknown>, child: AnyToken<unknown>): void => {
  if (!allowed[parent.lifetime].includes(child.lifetime)) {
    throw new InvalidLifetimeDependencyError(parent.name, parent.lifetime, child.name, child.lifetime)
  }
}

const allowed: Record<Lifetime, readonly Lifetime[]> = {
  singleton: ['singleton'],
  scoped: ['singleton', 'scoped'],
  transient: ['singleton', 'scoped', 'transient'],
}
