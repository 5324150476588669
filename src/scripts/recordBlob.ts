import type { RecordBlob, RecordBlobResult } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { blobField, blobName, blobText, encodeStore } from '../rows/blobText.js'
import { blobsLua } from './blobsLua.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Puts a blob on the record of a task, if the attempt is still the present one and nobody is just deleting the blob.
 *
 * KEYS: 1 root, 2 the row. ARGV: attempt, task id, field, name, store, the blob as JSON.
 * Returns: now, word (recorded, busy, lost), how long it is busy in ms.
 * Cost: five commands, three more for a blob that is consumed.
 */
const script = defineScript(
  'recordBlob',
  clockLua +
    blobsLua +
    `
local root, row = KEYS[1], KEYS[2]
local attempt, taskId, field, name, store, text = unpack(ARGV)
local status, run, stores = unpack(redis.call('HMGET', row, 's', 'run', 'bl'))
if run ~= attempt or (status ~= 'running' and status ~= 'cancelling') then return { now, 'lost', 0 } end
local rest = redis.call('PTTL', root .. 'blobgone:' .. name)
if rest > 0 then return { now, 'busy', rest } end
recordBlob(root, row, taskId, stores, field, store, text)
return { now, 'recorded', 0 }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const blob = { storeName: 's3', key: 'tasks/a/page.pdf' }
 * await recordBlob(connection, keys('svc/'), { taskId: 'a', attempt: 1, use: 'produced', blob })
 */
export const recordBlob = async (
  connection: Connection,
  keys: Keys,
  { taskId, attempt, ...used }: RecordBlob,
): Promise<RecordBlobResult> => {
  const { blob } = used
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.row(taskId)],
    [String(attempt), taskId, blobField(used), blobName(blob), encodeStore(blob.storeName), blobText(blob)],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, retryAfterMs] = reply as [number, string, number]
  if (word === 'recorded') return { kind: 'recorded', at }
  return word === 'busy' ? { kind: 'busy', retryAfterMs } : { kind: 'lost' }
}
