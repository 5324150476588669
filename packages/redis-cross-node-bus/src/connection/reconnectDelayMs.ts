/**
 * How long to wait before the next attempt: 50 ms doubled with each failure up to 2 s, of which a random half is taken
 * off, so that many processes do not come back in step.
 *
 * @param failures so far, from 0
 * @param random a number in [0, 1), given by tests
 */
export function reconnectDelayMs(failures: number, random: () => number = Math.random): number {
  const ceiling = Math.min(2_000, 50 * 2 ** Math.min(failures, 10))
  return Math.round(ceiling / 2 + (ceiling / 2) * random())
}
