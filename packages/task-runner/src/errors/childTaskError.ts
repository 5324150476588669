import { printable, quoted } from '../argument/printable.js'

/**
 * An awaited child did not succeed.
 *
 * @example
 * try {
 *   await ctx.spawnChildAndAwait('render', { page: 7 })
 * } catch (error) {
 *   if (error instanceof ChildTaskError && error.status === 'cancelled') return undefined
 *   throw error
 * }
 */
export class ChildTaskError extends Error {
  public override readonly name = 'ChildTaskError'

  constructor(
    /** The child. */
    public readonly taskId: string,
    /** The type of the child. */
    public readonly type: string,
    /** How it ended. */
    public readonly status: 'failed' | 'cancelled',
    /** Why it failed. */
    public readonly error?: { name: string; message: string },
  ) {
    const why = error === undefined ? '' : `: ${printable(`${error.name}: ${error.message}`, 1_000)}`
    super(
      `Child ${printable(taskId)} of type ${quoted(type)} was ${status === 'failed' ? 'not successful' : status}${why}`,
    )
  }
}
