import type { TaskStore } from '../store/taskStore.js'
import type { TaskRunner } from './taskRunner.js'

const stores = new WeakMap<TaskRunner, TaskStore>()

/** Remembers what a runner keeps its rows in. */
export const setStoreOf = (runner: TaskRunner, store: TaskStore): void => void stores.set(runner, store)

/** What a runner keeps its rows in. Throws for a runner that is none of a `TaskRunnerCore`. */
export const storeOf = (runner: TaskRunner): TaskStore => {
  const store = stores.get(runner)
  if (store === undefined) throw new Error('The bound TaskRunner is no TaskRunnerCore: its task store is not known')
  return store
}
