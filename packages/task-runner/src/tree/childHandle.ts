/** A child that a handler has spawned. `__resultType` carries the type of its result for the compiler only. */
export interface ChildHandle<R> {
  readonly taskId: string
  readonly type: string
  readonly __resultType?: R
}
