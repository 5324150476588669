/**
 * A child that a handler has spawned. `__resultType` carries the type of its result for the compiler only.
 *
 * @example
 * const page: ChildHandle<string> = await ctx.spawnChild<string, string>('fetch-page', 'https://example.org')
 * const [text] = await ctx.awaitChildren([page])
 */
export interface ChildHandle<R> {
  /** The child. */
  readonly taskId: string
  /** Its type. */
  readonly type: string
  /** Never there: only the compiler looks at it. */
  readonly __resultType?: R
}
