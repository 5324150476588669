/**
 * Raised when a service that is built asynchronously is requested through `get` or `inject`, even if it happens to be
 * resolved already: whether the call succeeds must not depend on who asked before.
 *
 * @example
 * try {
 *   injector.get(Database as never)
 * } catch (error) {
 *   if (error instanceof AsyncTokenInSyncContextError) console.error(error.tokenName) // 'Database'
 * }
 */
export class AsyncTokenInSyncContextError extends Error {
  public override readonly name = 'AsyncTokenInSyncContextError'

  constructor(
    /** The token that was asked for. */
    public readonly tokenName: string,
  ) {
    super(`The service "${tokenName}" is built asynchronously: request it with getAsync or injectAsync`)
  }
}
