/**
 * How long to rest after the n-th failure in a row: `baseMs` doubled with each, at most 5 s or `baseMs` if that is more,
 * of which a random half is taken off.
 *
 * @param failures failures before this one, from 0
 * @param random a number in [0, 1), given by tests
 *
 * @example
 * backOffMs(250, 2, () => 0) // 500
 */
export const backOffMs = (baseMs: number, failures: number, random: () => number = Math.random): number => {
  const ceiling = Math.min(Math.max(5_000, baseMs), baseMs * 2 ** Math.min(failures, 20))
  return Math.round(ceiling / 2 + (ceiling / 2) * random())
}
