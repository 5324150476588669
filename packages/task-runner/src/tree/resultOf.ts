import type { ChildHandle } from './childHandle.js'

/**
 * What the child behind a handle returns.
 *
 * @example
 * const total: ResultOf<ChildHandle<number>> = 42
 */
export type ResultOf<H> = H extends ChildHandle<infer R> ? R : never
