import type { TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'

/**
 * How a child differs from the default.
 *
 * @example
 * const options: SpawnOptions = { tags: ['gpu'], handlerVersion: 2 }
 * const child = await ctx.spawnChild('render', { frame: 7 }, options)
 */
export interface SpawnOptions {
  /** What becomes of the child once it is over. What is missing in it comes from its handler’s policy, or the default. */
  retentionPolicy?: Partial<TaskRetentionPolicy>
  /** What the child's worker must offer. */
  tags?: string[]
  /**
   * When the child's first attempt has to have begun; one that nobody can run fails then, so that its parent does not wait
   * for ever. Take it from `ctx.now()`. @default no limit
   */
  startBefore?: Date
  /** The version of the handler that the child asks for. @default the newest version registered in this process, or 1 */
  handlerVersion?: number
}
