/**
 * What the end of a child did to its parent, in the same step: the parent's history has the event, and a parent that
 * waited for this child as its last one is pending again.
 *
 * @example
 * const needsEntry = (parent?: ParentUpdate): boolean => parent?.woken === true
 */
export interface ParentUpdate {
  /** The parent. */
  taskId: string
  /** Its type, by which its subscribers are told. */
  type: string
  /** Whether this was the child that the parent waited for. It is so for exactly one child of a wait. */
  woken: boolean
}
