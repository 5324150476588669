/**
 * A limit as scripts take it: 0 stands for none.
 *
 * @example
 * limitText(5) // '5'
 * limitText(Infinity) // '0'
 */
export const limitText = (limit: number | undefined): string =>
  limit === undefined || !Number.isFinite(limit) ? '0' : String(limit)
