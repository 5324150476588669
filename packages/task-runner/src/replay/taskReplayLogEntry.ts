import type { ReplayStepKind } from './replayStepKind.js'

/**
 * One recorded step of a task's handler.
 *
 * A class with declared fields only, so that it can serve as the model of a store of your own.
 *
 * @example
 * const entry = Object.assign(new TaskReplayLogEntry(), { id: 'a:0', taskId: 'a', stepIndex: 0, kind: 'now' })
 */
export class TaskReplayLogEntry {
  /** `<taskId>:<stepIndex>` */
  declare id: string
  /** The task whose handler took the step. */
  declare taskId: string
  /** From 0, in the order of the calls within a run. */
  declare stepIndex: number
  /** Which helper it was. */
  declare kind: ReplayStepKind
  /** What it was asked for. */
  declare input?: unknown
  /** What it answered. */
  declare output?: unknown
  /** The child, of a `spawn-child`. */
  declare childTaskId?: string
  /** The children that were waited for, in the order of the handles. */
  declare childTaskIds?: string[]
  /** ISO-8601. */
  declare createdAt: string
}
