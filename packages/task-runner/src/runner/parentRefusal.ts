import { ParentEndedError } from '../errors/parentEndedError.js'
import { UnknownTaskError } from '../errors/unknownTaskError.js'
import type { CreateResult, CreateTask } from '../store/createTask.js'
import type { TaskStore } from '../store/taskStore.js'
import { isTerminalStatus } from '../task/taskStatus.js'

/** Why a task was not created. */
export const refusalOf = ({ parentTaskId, parentStatus }: CreateResult & { kind: 'refused' }): Error =>
  parentStatus === undefined
    ? new UnknownTaskError(parentTaskId, 'parent task')
    : new ParentEndedError(parentTaskId, parentStatus)

/**
 * Rejects if a task would be refused for its parent, before any is created. What holds is decided in the step that
 * creates; one with an idempotency key may stand already, and then its parent is of no interest.
 */
export const assertParents = async (store: TaskStore, creates: readonly CreateTask[]): Promise<void> => {
  const wanted = creates.flatMap(({ idempotencyKey, parentTaskId }) =>
    idempotencyKey === undefined && parentTaskId !== undefined ? [parentTaskId] : [],
  )
  const parentIds = [...new Set(wanted)]
  if (parentIds.length === 0) return
  const parents = await store.getMany(parentIds)
  for (const [index, parentTaskId] of parentIds.entries()) {
    const status = parents[index]?.task.status
    if (status === undefined) throw refusalOf({ kind: 'refused', parentTaskId })
    if (isTerminalStatus(status) || status === 'cancelling') throw new ParentEndedError(parentTaskId, status)
  }
}
