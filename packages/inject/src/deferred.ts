/** A promise together with the function that settles it. */
export type Deferred<T> = {
  readonly promise: Promise<T>
  readonly resolve: (value: T | Promise<T>) => void
}

/**
 * Makes a promise that exists before the work behind it starts, so that code which is re-entered by that work finds it.
 *
 * @example
 * const { promise, resolve } = deferred<number>()
 * resolve(42)
 * await promise // 42
 */
export const deferred = <T>(): Deferred<T> => {
  let resolve: Deferred<T>['resolve'] = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
