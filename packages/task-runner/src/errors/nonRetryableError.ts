const BRAND: unique symbol = Symbol.for('@furystack/task-runner/NonRetryableError') as never

/**
 * Thrown by a handler whose next run would fail the same way: the task fails for good, whatever attempts are left.
 *
 * @example
 * const check = (address: string): void => {
 *   if (!address.includes('@')) throw new NonRetryableError(`not an address: ${address}`)
 * }
 */
export class NonRetryableError extends Error {
  public override readonly name: string = 'NonRetryableError'
  /** Recognised by this mark, so that two copies of the package in one process understand each other. */
  public readonly [BRAND] = true
}
