import type { ParentUpdate } from '../store/parentUpdate.js'
import type { TerminalStatus } from '../task/taskStatus.js'
import type { RunnerParts } from './runnerParts.js'

/** The end of a task. */
export interface EndedTask {
  readonly taskId: string
  readonly status: TerminalStatus
  /** Epoch milliseconds. */
  readonly at: number
}

/**
 * Publishes what the end of a task did to its parent. A parent that has been woken gets its entry, where the step that
 * woke it did not make one. Reports trouble, never rejects: the row stays marked, and is found again.
 */
export const tellParent = async (
  parts: RunnerParts,
  { taskId, status, at }: EndedTask,
  parent: ParentUpdate | undefined,
): Promise<void> => {
  if (parent === undefined) return
  const { updates, joint, store, dispatcher, report } = parts
  updates.childCompleted(parent.type, parent.taskId, taskId, status, at)
  if (!parent.woken) return
  updates.status(parent.type, parent.taskId, 'pending', at)
  if (joint !== undefined) return
  try {
    const stored = await store.get(parent.taskId)
    if (stored?.task.status !== 'pending') return
    await dispatcher.dispatch(stored.task, stored.task.attempts.length)
  } catch (error) {
    report('wake', error)
  }
}
