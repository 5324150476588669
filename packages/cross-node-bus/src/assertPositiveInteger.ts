/**
 * Refuses a setting that has to be a positive integer and is not.
 *
 * @throws RangeError naming the setting and its value.
 *
 * @example
 * ```ts
 * assertPositiveInteger('replayWindow', 1.5) // throws a RangeError that names it
 * ```
 */
export function assertPositiveInteger(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError(`${name} must be a positive integer, not ${value}`)
}
