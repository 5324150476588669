/**
 * How a child ended.
 *
 * @example
 * const [page] = await ctx.awaitChildrenSettled([await ctx.spawnChild<string, string>('fetch-page', '/')])
 * const textOf = (child: SettledChildResult<string>): string => (child.status === 'succeeded' ? child.result : '')
 * console.log(textOf(page))
 */
export type SettledChildResult<R> =
  | { status: 'succeeded'; taskId: string; type: string; result: R }
  | { status: 'failed'; taskId: string; type: string; error: { name: string; message: string } }
  | { status: 'cancelled'; taskId: string; type: string }
