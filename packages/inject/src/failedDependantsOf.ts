import type { Instance } from './instance.js'

/**
 * Collects the failed instances among those that were built from `instance`, directly or through others: its
 * replacement may be just what they need to succeed.
 *
 * @example
 * const retry = (instance: Instance): void => failedDependantsOf(instance).forEach((failed) => failed.supersede())
 */
export const failedDependantsOf = (instance: Instance): readonly Instance[] => {
  const found = new Set([instance])
  // Iterating over a set also visits what is added on the way.
  for (const { dependants } of found) {
    for (const dependant of dependants.keys()) {
      found.add(dependant)
    }
  }
  found.delete(instance)
  return [...found].filter(({ phase }) => phase === 'failed')
}
