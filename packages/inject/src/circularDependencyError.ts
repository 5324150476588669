/**
 * Raised when a service is requested, directly or through others, by a service it is waiting for itself. `path` names
 * the services in the order of the requests and ends with the repeated one.
 *
 * @example
 * injector.getAsync(Database).catch((error: unknown) => {
 *   if (error instanceof CircularDependencyError) console.error(error.path) // ['Database', 'Settings', 'Database']
 * })
 */
export class CircularDependencyError extends Error {
  public override readonly name = 'CircularDependencyError'

  constructor(
    /** The names of the tokens in the circle, from the first one to itself. */
    public readonly path: readonly string[],
  ) {
    super(`Services depend on each other in a circle: ${path.join(' -> ')}`)
  }
}
