import type { StoredTask } from '../store/storedTask.js'
import type { Task } from '../task/task.js'
import { keyOfScope } from './idempotencyScope.js'

/** The task of a row as it is shown to whoever asks: with the key that the submitter gave. */
export const presentTask = ({ task }: Pick<StoredTask, 'task'>): Task => {
  if (task.idempotencyKey !== undefined) task.idempotencyKey = keyOfScope(task.idempotencyKey)
  return task
}
