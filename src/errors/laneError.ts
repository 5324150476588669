/**
 * What every error of this library extends.
 *
 * `code` is a literal that programs may branch on. `effect` says what became of the operation on the server:
 * `'excluded'`, it did not happen and will not; `'unknown'`, it may have happened, because the connection was lost after
 * the command had been written.
 *
 * @example
 * try {
 *   await runner.submit({ type: 'mail', payload: {}, handlerVersion: 1 })
 * } catch (error) {
 *   if (error instanceof LaneError && error.effect === 'excluded') console.warn('try again later')
 *   else throw error
 * }
 */
export abstract class LaneError extends Error {
  /** Names the kind of error, for programs to branch on. */
  abstract readonly code: string
  /** What became of the operation on the server: `'excluded'`, it did not happen and will not; `'unknown'`, it may have. */
  abstract readonly effect: 'excluded' | 'unknown'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}
