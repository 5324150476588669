import type { CreateResult, CreateTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { createTasks } from './createTasks.js'

/**
 * Creates one task, as {@link createTasks} creates many.
 *
 * @param withEntry whether the task is to be queued; without, it is marked as not yet enqueued
 *
 * @example
 * await createTask(connection, keys('svc/'), 'runner', draft, true)
 */
export const createTask = async (
  connection: Connection,
  keys: Keys,
  group: string,
  input: CreateTask,
  withEntry: boolean,
): Promise<CreateResult> => {
  const [result] = await createTasks(connection, keys, group, [input], withEntry)
  if (result === undefined) throw new ScriptReplyError('createTasks', result)
  return result
}
