import { UnknownTaskError } from '../errors/unknownTaskError.js'
import type { TaskStore } from '../store/taskStore.js'
import type { TaskTreeNode } from '../task/taskTreeNode.js'
import { presentTask } from './presentTask.js'

/** Reads a task with all its descendants, one question a level. A task stands in the tree once, whatever rows say. */
export const readTree = async (store: TaskStore, rootId: string): Promise<TaskTreeNode> => {
  const root = await store.get(rootId)
  if (root === undefined) throw new UnknownTaskError(rootId)
  const tree: TaskTreeNode = { task: presentTask(root), children: [] }
  const seen = new Set([rootId])
  for (let level = [tree]; level.length > 0;) {
    const wanted = level.flatMap((parent) =>
      parent.task.childTaskIds.filter((id) => !seen.has(id) && seen.add(id)).map((id) => ({ id, parent })),
    )
    const found = wanted.length === 0 ? [] : await store.getMany(wanted.map(({ id }) => id))
    level = wanted.flatMap(({ parent }, index) => {
      const stored = found[index]
      if (stored === undefined) return []
      const node: TaskTreeNode = { task: presentTask(stored), children: [] }
      parent.children.push(node)
      return [node]
    })
  }
  return tree
}
