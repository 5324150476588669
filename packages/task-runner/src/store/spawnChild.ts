import type { CreateTask } from './createTask.js'
import type { StepRecord } from './recordStep.js'

/**
 * Brings a child into being, in one step fenced by the parent's attempt: the child's row, its place among the parent's
 * children, the event on the parent, and the step that the parent's next run finds it by.
 *
 * @example
 * const input: SpawnChild = {
 *   parentId: 'a',
 *   attempt: 1,
 *   step: { key: 'spawn:0', json: '"b"' },
 *   child: { ...draft, id: 'b', status: 'pending', parentTaskId: 'a' },
 * }
 * await store.spawnChild(input)
 */
export interface SpawnChild {
  /** The task whose handler spawns. */
  parentId: string
  /** The parent's attempt. */
  attempt: number
  /** What the parent’s next run finds the child by. */
  step: StepRecord
  /** `status` is `pending`, `parentTaskId` the parent. */
  child: CreateTask
}

/**
 * - `spawned`: the child is there, pending and marked as not yet enqueued.
 * - `exists`: a row with its id stood already; nothing was changed. The step was taken before, most likely.
 * - `refused`: the attempt is no longer the present one (`lost`), or the parent has been told to cancel.
 *
 * @example
 * const isThere = (result: SpawnResult): boolean => result.kind !== 'refused'
 */
export type SpawnResult =
  | { kind: 'spawned'; at: number }
  | { kind: 'exists' }
  | { kind: 'refused'; reason: 'lost' }
  | { kind: 'refused'; reason: 'cancelling'; cancelReason?: string }
