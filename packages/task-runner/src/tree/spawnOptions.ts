import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'

/** How a child differs from the default. */
export interface SpawnOptions {
  retentionPolicy?: Partial<TaskRetentionPolicy>
  /** What the child's worker must offer. */
  tags?: string[]
  /**
   * When the child's first attempt has to have begun; one that nobody can run fails then, so that its parent does not wait
   * for ever. Take it from `ctx.now()`. @default no limit
   */
  startBefore?: Date
  /** @default the newest version registered in this process, or 1 */
  handlerVersion?: number
}
