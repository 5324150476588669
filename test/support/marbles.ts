import { type RunHelpers, TestScheduler } from 'rxjs/testing'
import { expect } from 'vitest'

/**
 * Runs a test in virtual time; what is expected of observables is compared when it ends, or at `flush()`.
 *
 * @example
 * marbles(({ cold, expectObservable }) => expectObservable(cold('a|')).toBe('a|'))
 */
export const marbles = (test: (helpers: RunHelpers) => void): void => {
  const scheduler = new TestScheduler((actual, expected) => {
    expect(actual).toEqual(expected)
  })
  scheduler.run(test)
}
