const BRAND: unique symbol = Symbol.for('@furystack/task-runner/SuspendedError') as never

/**
 * Leaves a handler that has to wait for children; the run ends and starts again when they have ended. Not a failure:
 * whoever catches it in a handler has to throw it on.
 *
 * @example
 * try {
 *   await ctx.spawnChildAndAwait('charge', { amount: 7 })
 * } catch (error) {
 *   if (isSuspendedError(error)) throw error
 *   await ctx.spawnChildAndAwait('refund', { amount: 7 })
 * }
 */
export class SuspendedError extends Error {
  public override readonly name = 'SuspendedError'
  /** Recognised by this mark, so that two copies of the package in one process understand each other. */
  public readonly [BRAND] = true

  constructor(
    /** The children that the run waits for. */
    public readonly awaitedChildIds: string[],
  ) {
    super(`Suspended until ${awaitedChildIds.length} awaited children have ended`)
  }
}
