import type { DueBlobs, DueBlobsPage, TakeDueBlobs } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { decodeBlobs, encodeStore } from '../rows/blobText.js'
import { blobsLua } from './blobsLua.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/** Blobs that one call looks at, before it leaves further tasks to the next. */
const BLOBS = 1_000

/**
 * Takes tasks whose blobs in a store are due, longest first, and puts them back into the index for when the lease ends. A
 * blob that nobody else uses is marked as being deleted for as long; one that the task was given and others use is taken
 * off its record. A task whose record is gone, with its row, is dropped.
 *
 * KEYS: 1 root, 2 the store's index. ARGV: store, tasks, lease in ms.
 * Returns: 1 if more are due, then for each task: its id, its type, and in turn field, value, and 1 for a blob in use.
 * Cost: two commands a task, and two to three a blob.
 */
const script = defineScript(
  'takeDueBlobs',
  clockLua +
    blobsLua +
    `
local root, index = KEYS[1], KEYS[2]
local store, limit, leaseMs = unpack(ARGV)
local looked, replies = 0, { 0 }

local function isUsed(letter, name, taskId)
  for _, user in ipairs(redis.call('ZRANGEBYSCORE', root .. 'blobusers:' .. name, nowText, '+inf', 'LIMIT', 0, 2)) do
    if user ~= taskId then return true end
  end
  local producer = letter == 'c' and string.match(name, '^[^|]*|tasks/([^/]+)/')
  return producer and producer ~= taskId and
    redis.call('HGET', root .. 'row:' .. producer .. ':blobs', 'p|' .. name)
end

for _, taskId in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', nowText, 'LIMIT', 0, limit)) do
  if looked >= ${String(BLOBS)} then break end
  local flat = redis.call('HGETALL', root .. 'row:' .. taskId .. ':blobs')
  local mode, kind
  for i = 1, #flat, 2 do
    if flat[i] == '.m' then mode = flat[i + 1] elseif flat[i] == '.t' then kind = flat[i + 1] end
  end
  if not mode then
    redis.call('ZREM', index, taskId)
  else
    local found = { taskId, kind }
    for i = 1, #flat, 2 do
      local letter, name, at = string.match(flat[i], '^(%a)|(([^|]*)|.*)$')
      if at == store and (mode == '2' or mode == '1' and letter == 'p') then
        local used = isUsed(letter, name, taskId)
        if used and letter == 'c' then
          dropBlob(root, root .. 'row:' .. taskId .. ':blobs', taskId, flat[i])
        else
          if not used then redis.call('SET', root .. 'blobgone:' .. name, taskId, 'PX', leaseMs) end
          found[#found + 1], found[#found + 2], found[#found + 3] = flat[i], flat[i + 1], used and 1 or 0
        end
        looked = looked + 1
      end
    end
    redis.call('ZADD', index, int(now + leaseMs), taskId)
    replies[#replies + 1] = found
  end
end
replies[1] = #redis.call('ZRANGEBYSCORE', index, '-inf', nowText, 'LIMIT', 0, 1)
return replies
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await takeDueBlobs(connection, keys('svc/'), { storeName: 's3', limit: 100, leaseMs: 120_000 })
 */
export const takeDueBlobs = async (
  connection: Connection,
  keys: Keys,
  { storeName, limit, leaseMs }: TakeDueBlobs,
): Promise<DueBlobsPage> => {
  const store = encodeStore(storeName)
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.dueBlobs(store)],
    [store, String(limit), String(Math.ceil(leaseMs))],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [more, ...tasks] = reply as [number, ...WireTask[]]
  return { tasks: tasks.map(dueBlobsOf), hasMore: more > 0 }
}

type WireTask = [taskId: string, type: string, ...blobs: Array<string | number>]

const dueBlobsOf = ([taskId, type, ...blobs]: WireTask): DueBlobs => {
  const lists: Record<'deletable' | 'inUse', string[]> = { deletable: [], inUse: [] }
  for (let i = 0; i + 2 < blobs.length; i += 3) {
    lists[blobs[i + 2] === 1 ? 'inUse' : 'deletable'].push(blobs[i] as string, blobs[i + 1] as string)
  }
  return { taskId, type, deletable: decodeBlobs(lists.deletable), inUse: decodeBlobs(lists.inUse) }
}
