/**
 * Options of `Injector.createScope` and `withScope`.
 *
 * @example
 * const scope = injector.createScope({ owner: 'GET /tasks' })
 */
export type CreateScopeOptions = {
  /** What the scope was made for. It is only kept as `injector.owner`. */
  owner?: unknown
}
