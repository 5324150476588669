import { UnknownTaskError } from '../errors/unknownTaskError.js'
import type { Task } from '../task/task.js'
import type { TaskUpdate } from '../task/taskUpdate.js'
import type { TaskRunner } from './taskRunner.js'

/**
 * What `followTask` calls back.
 *
 * @example
 * const follower: TaskFollower = {
 *   onTask: ({ status }) => console.log(status),
 *   onUpdate: (update) => console.log(update.kind),
 * }
 * using following = await followTask(runner, taskId, follower)
 */
export interface TaskFollower {
  /** Called once, before any update: the row as it is. */
  onTask(task: Task): void
  /** Called for each update from then on. An update that the row shows already may come again, never one be missed. */
  onUpdate(update: TaskUpdate): void
}

/**
 * Shows a task as it is and then follows it: subscribes first and reads the row then, so that no update of this runner
 * falls between the two. Resolves when the row has been shown; rejects, with nothing left subscribed, with an
 * `UnknownTaskError` or with what the runner says.
 *
 * @returns a handle that ends it.
 *
 * @example
 * using following = await followTask(runner, taskId, { onTask: console.log, onUpdate: console.log })
 */
export const followTask = async (runner: TaskRunner, taskId: string, follower: TaskFollower): Promise<Disposable> => {
  let early: TaskUpdate[] | undefined = []
  const subscription = runner.subscribe(taskId, (update) => {
    if (early === undefined) follower.onUpdate(update)
    else early.push(update)
  })
  try {
    const task = await runner.get(taskId)
    if (task === undefined) throw new UnknownTaskError(taskId)
    follower.onTask(task)
    const missed = early
    early = undefined
    for (const update of missed) follower.onUpdate(update)
    return subscription
  } catch (error) {
    subscription[Symbol.dispose]()
    throw error
  }
}
