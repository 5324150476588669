/**
 * Raised when an injector, or a context function of a service it owns, is used after its disposal began. An injector
 * counts as disposed as soon as one of its ancestors does.
 *
 * @example
 * try {
 *   injector.get(Clock)
 * } catch (error) {
 *   if (!(error instanceof InjectorDisposedError)) throw error
 * }
 */
export class InjectorDisposedError extends Error {
  public override readonly name = 'InjectorDisposedError'

  constructor() {
    super('The injector is disposed and cannot be used any more')
  }
}
