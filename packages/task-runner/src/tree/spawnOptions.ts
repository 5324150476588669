import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'

/** How a child differs from the default. */
export interface SpawnOptions {
  retentionPolicy?: Partial<TaskRetentionPolicy>
  /** What the child's worker must offer. */
  tags?: string[]
  /** @default the newest version registered in this process, or 1 */
  handlerVersion?: number
}
