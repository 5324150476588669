import type { CreateResult, CreateTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { createTasks } from './createTasks.js'

/**
 * Creates one task, as {@link createTasks} creates many.
 *
 * @param leaseSec how long an idempotency key is held; with `undefined` neither lease nor entry are made
 *
 * @example
 * await createTask(connection, keys('svc/'), 'runner', input, 86_400)
 */
export const createTask = async (
  connection: Connection,
  keys: Keys,
  group: string,
  input: CreateTask,
  leaseSec?: number,
): Promise<CreateResult> => {
  const [result] = await createTasks(connection, keys, group, [input], leaseSec)
  if (result === undefined) throw new ScriptReplyError('createTasks', result)
  return result
}
