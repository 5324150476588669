/**
 * Calls a function of somebody else without being at its mercy: what it throws goes to `onError`, and so does the
 * rejection of a promise it returns. Does not wait for that promise.
 *
 * @example
 * ```ts
 * callGuarded(
 *   () => Promise.reject(new Error('no')),
 *   (error) => console.error('the handler failed', error),
 * )
 * ```
 */
export function callGuarded(fn: () => unknown, onError: (error: unknown) => void): void {
  try {
    const result = fn()
    if (isThenable(result)) Promise.resolve(result).then(undefined, onError)
  } catch (error) {
    onError(error)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
