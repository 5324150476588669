import type { Task } from './task.js'

/** A task with its children, as `getTree` answers it. */
export interface TaskTreeNode {
  task: Task
  children: TaskTreeNode[]
}
