/**
 * Tasks of a type, a version and a set of tags have begun to wait in vain, or do not any more.
 *
 * @example
 * const change: UnservedChange = { type: 'mail', handlerVersion: 2, tags: [], since: Date.now() - 120_000 }
 */
export interface UnservedChange {
  /** The type that the tasks have. */
  readonly type: string
  /** The version of the handler that they ask for. */
  readonly handlerVersion: number
  /** What their worker must offer. */
  readonly tags: readonly string[]
  /** Since when the first of them has waited, in epoch milliseconds; absent if a worker takes them now, or they are gone. */
  readonly since?: number
}
