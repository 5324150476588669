import type { StoredTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { decodeRow } from '../rows/rowCodec.js'
import { blobsOfLua } from './blobsLua.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Reads rows with their stored events, their children and their blobs, each as of one instant.
 *
 * KEYS: the rows. Returns: for each row its fields and values, its events, the ids of its children, and its blobs.
 */
const script = defineScript(
  'readRows',
  blobsOfLua +
    `
local rows = {}
for i, key in ipairs(KEYS) do
  local row = redis.call('HGETALL', key)
  rows[i] = { row, redis.call('LRANGE', key .. ':events', 0, -1), redis.call('LRANGE', key .. ':children', 0, -1),
    blobsOf(key, row) }
end
return rows
`,
)

/**
 * The typed caller of the script above; answers in the order of the ids, at most 100 rows a call of the script.
 *
 * @example
 * const [stored] = await readRows(connection, keys('svc/'), ['a'])
 */
export const readRows = async (
  connection: Connection,
  keys: Keys,
  taskIds: readonly string[],
): Promise<Array<StoredTask | undefined>> => {
  const pages: Array<Promise<Array<StoredTask | undefined>>> = []
  for (let from = 0; from < taskIds.length; from += 100)
    pages.push(readPage(connection, keys, taskIds.slice(from, from + 100)))
  return (await Promise.all(pages)).flat()
}

const readPage = async (
  connection: Connection,
  keys: Keys,
  taskIds: readonly string[],
): Promise<Array<StoredTask | undefined>> => {
  const reply = await runScript(
    connection,
    script,
    taskIds.map((taskId) => keys.row(taskId)),
    [],
  )
  if (!Array.isArray(reply) || reply.length !== taskIds.length) throw new ScriptReplyError(script.name, reply)
  return taskIds.map((taskId, index) => {
    const [row, events, children, blobs] = reply[index] as [string[], string[], string[], string[]]
    return row.length === 0 ? undefined : decodeRow(taskId, row, { events, children, blobs })
  })
}
