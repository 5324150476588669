import type { Task } from './task.js'

/**
 * A task with its children, as `getTree` answers it.
 *
 * @example
 * const sizeOf = ({ children }: TaskTreeNode): number => children.reduce((sum, child) => sum + sizeOf(child), 1)
 * console.log(sizeOf(await runner.getTree(taskId)))
 */
export interface TaskTreeNode {
  /** The task. */
  task: Task
  /** Its children, in the order in which they were spawned. */
  children: TaskTreeNode[]
}
