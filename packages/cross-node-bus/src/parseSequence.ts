/**
 * The number behind a token of the in-process bus.
 *
 * @throws RangeError unless the token is a non-negative integer in decimal digits.
 */
export function parseSequence(token: string): number {
  const value = /^\d+$/.test(token) ? Number(token) : NaN
  if (!Number.isSafeInteger(value))
    throw new RangeError(`Not a sequence token: "${token}" (want a non-negative integer)`)
  return value
}
