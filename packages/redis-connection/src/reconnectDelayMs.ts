/**
 * How long to wait before the next attempt to connect: 50 ms doubled with each attempt up to 2 s, of which a random half
 * is taken off, so that many processes do not come back in step.
 *
 * @param retries attempts made so far, from 0
 * @param random a number in [0, 1), given by tests
 * @returns whole milliseconds, 25 to 2000
 *
 * @example
 * reconnectDelayMs(0, undefined, () => 0) // 25
 */
export const reconnectDelayMs = (retries: number, _cause?: unknown, random: () => number = Math.random): number => {
  const ceiling = Math.min(2_000, 50 * 2 ** Math.min(retries, 10))
  return Math.round(ceiling / 2 + (ceiling / 2) * random())
}
