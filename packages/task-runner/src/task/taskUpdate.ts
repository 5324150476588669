import type { TaskError } from './task.js'
import type { TaskStatus, TerminalStatus } from './taskStatus.js'

/**
 * What is left of a task whose row was removed in the step that ended it.
 *
 * @example
 * runner.subscribe(taskId, (update) => {
 *   const last: RemovedTask | undefined = update.kind === 'status' ? update.removed : undefined
 *   if (last) console.log(last.result ?? last.error) // there is no row to read it from
 * })
 */
export interface RemovedTask {
  /** With `succeeded`. */
  result?: unknown
  /** With `failed`. */
  error?: TaskError
}

/**
 * What subscribers and the bus carry. `taskId` is the task that the update is about: the parent for the two child
 * kinds. `at` is ISO-8601. `removed` is there when the row is not: its policy left nothing to read, and this is all there
 * will be.
 *
 * @example
 * runner.subscribe(taskId, (update: TaskUpdate) => {
 *   if (update.kind === 'progress') console.log(`${update.percent} %`)
 * })
 */
export type TaskUpdate =
  | { kind: 'status'; taskId: string; status: TaskStatus; at: string; reason?: string; removed?: RemovedTask }
  | { kind: 'progress'; taskId: string; percent: number; meta?: unknown; at: string }
  | { kind: 'spawned-child'; taskId: string; childTaskId: string; at: string }
  | { kind: 'child-completed'; taskId: string; childTaskId: string; status: TerminalStatus; at: string }
