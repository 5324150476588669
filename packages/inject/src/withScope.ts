import type { CreateScopeOptions } from './createScopeOptions.js'
import type { Injector } from './injector.js'

/**
 * Runs `fn` with a new scope of `parent`, disposes the scope in any case and resolves to what `fn` returned.
 *
 * Rejects with the error of `fn`; with the `AggregateError` of the disposal if only that failed; with an
 * `AggregateError` of both, the error of `fn` first and also as its `cause`, if both failed; and with
 * `InjectorDisposedError` if `parent` is disposed.
 *
 * @example
 * const now = await withScope(injector, (scope) => scope.get(Clock).now(), { owner: 'GET /now' })
 */
export const withScope = async <T>(
  parent: Injector,
  fn: (scope: Injector) => T | Promise<T>,
  options?: CreateScopeOptions,
): Promise<T> => {
  const scope = parent.createScope(options)
  let result: T
  try {
    result = await fn(scope)
  } catch (error) {
    const [disposal] = await Promise.allSettled([scope[Symbol.asyncDispose]()])
    if (disposal.status === 'rejected') {
      throw new AggregateError([error, disposal.reason], 'A scope failed and so did its disposal', { cause: error })
    }
    throw error
  }
  await scope[Symbol.asyncDispose]()
  return result
}
