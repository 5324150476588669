/**
 * An awaited child did not succeed.
 *
 * @example
 * try {
 *   await ctx.spawnChildAndAwait('render', page)
 * } catch (error) {
 *   if (error instanceof ChildTaskError && error.status === 'cancelled') return undefined
 *   throw error
 * }
 */
export class ChildTaskError extends Error {
  public override readonly name = 'ChildTaskError'

  constructor(
    public readonly taskId: string,
    public readonly type: string,
    public readonly status: 'failed' | 'cancelled',
    /** Why it failed. */
    public readonly error?: { name: string; message: string },
  ) {
    const why = error === undefined ? '' : `: ${error.name}: ${error.message}`
    super(
      `Child ${taskId} of type ${JSON.stringify(type)} was ${status === 'failed' ? 'not successful' : status}${why}`,
    )
  }
}
