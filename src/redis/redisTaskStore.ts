import type { TaskStore } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { redisDeadLetters } from './redisDeadLetters.js'
import { beginAttempt } from '../scripts/beginAttempt.js'
import { cancelTask } from '../scripts/cancelTask.js'
import { createTask } from '../scripts/createTask.js'
import { expireAttempts } from '../scripts/expireAttempts.js'
import { expireTasks } from '../scripts/expireTasks.js'
import { extendAttempts } from '../scripts/extendAttempts.js'
import { finishAttempt } from '../scripts/finishAttempt.js'
import { leadRole } from '../scripts/leadRole.js'
import { markEnqueued } from '../scripts/markEnqueued.js'
import { findOrphaned } from '../scripts/findOrphaned.js'
import { readRows } from '../scripts/readRows.js'
import { readSteps } from '../scripts/readSteps.js'
import { recordBlob } from '../scripts/recordBlob.js'
import { recordStep } from '../scripts/recordStep.js'
import { removeExpired } from '../scripts/removeExpired.js'
import { resignRole } from '../scripts/resignRole.js'
import { settleBlobs } from '../scripts/settleBlobs.js'
import { spawnChild } from '../scripts/spawnChild.js'
import { startTask } from '../scripts/startTask.js'
import { takeDueBlobs } from '../scripts/takeDueBlobs.js'
import { findUnqueued } from '../scripts/findUnqueued.js'

/** What a {@link redisTaskStore} works with. */
export interface RedisTaskStoreOptions {
  readonly connection: Connection
  readonly keys: Keys
}

/**
 * Task rows in Redis: a hash a task, one script a transition, so that all processes see one truth.
 *
 * @example
 * const store = redisTaskStore({ connection, keys: keys('svc-a/') })
 * const stored = await store.get(taskId)
 */
export const redisTaskStore = ({ connection, keys }: RedisTaskStoreOptions): TaskStore => ({
  shared: true,
  deadLetters: redisDeadLetters({ connection, keys, group: NO_GROUP, holds: () => 'task' }),
  create: (input) => createTask(connection, keys, NO_GROUP, input, false),
  get: async (taskId) => (await readRows(connection, keys, [taskId]))[0],
  getMany: (taskIds) => readRows(connection, keys, taskIds),
  start: (input) => startTask(connection, keys, NO_GROUP, input, false),
  beginAttempt: (input) => beginAttempt(connection, keys, input),
  finishAttempt: (input) => finishAttempt(connection, keys, input),
  extendAttempt: async (input) =>
    (await extendAttempts(connection, keys, NO_GROUP, [{ input }]))[0] ?? { kind: 'lost' },
  cancel: (input) => cancelTask(connection, keys, NO_GROUP, input),
  spawnChild: (input) => spawnChild(connection, keys, NO_GROUP, input),
  recordStep: (input) => recordStep(connection, keys, input),
  readSteps: (taskId) => readSteps(connection, keys, taskId),
  recordBlob: (input) => recordBlob(connection, keys, input),
  takeDueBlobs: (query) => takeDueBlobs(connection, keys, query),
  settleBlobs: (input) => settleBlobs(connection, keys, input),
  markEnqueued: (taskId, attempts) => markEnqueued(connection, keys, taskId, attempts),
  findUnqueued: (query) => findUnqueued(connection, keys, query),
  expireAttempts: async ({ limit }) => {
    const expired = await expireAttempts(connection, keys, limit)
    const rows = await readRows(
      connection,
      keys,
      expired.map(({ taskId }) => taskId),
    )
    return expired.flatMap(({ parent }, index) => {
      const stored = rows[index]
      return stored ? [{ ...stored, ...(parent && { parent }) }] : []
    })
  },
  expireTasks: ({ limit }) => expireTasks(connection, keys, NO_GROUP, limit),
  findOrphaned: (query) => findOrphaned(connection, keys, query),
  markReaped: async (parentIds) => {
    if (parentIds.length > 0) await connection.send('markReaped', ['ZREM', keys.orphans, ...parentIds])
  },
  removeExpired: ({ limit }) => removeExpired(connection, keys, limit),
  lead: (input) => leadRole(connection, keys, input),
  resign: (input) => resignRole(connection, keys, input),
})

/** Alone, the store writes no entries, so it needs no group. */
const NO_GROUP = ''
