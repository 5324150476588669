import { UnknownTaskError } from '../errors/unknownTaskError.js'
import type { TaskStore } from '../store/taskStore.js'

/** Rejects unless the parent exists and its own parents lead to an end. */
export const checkParents = async (store: TaskStore, parentTaskId: string): Promise<void> => {
  const seen = new Set<string>()
  for (let id: string | undefined = parentTaskId; id !== undefined;) {
    if (seen.has(id)) throw new Error(`The parents of task ${parentTaskId} form a cycle`)
    seen.add(id)
    const stored = await store.get(id)
    if (stored === undefined && id === parentTaskId) throw new UnknownTaskError(id, 'parent task')
    id = stored?.task.parentTaskId
  }
}
