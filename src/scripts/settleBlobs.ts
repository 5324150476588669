import type { SettleBlobs } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { blobField, blobName, encodeStore } from '../rows/blobText.js'
import { blobsLua } from './blobsLua.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Takes blobs off the record of a task, and those that were being deleted off their marks. The task is looked at again after
 * a while, or is done with in this store; after its last store it is swept: the record goes with the row, at once if that
 * has gone.
 *
 * KEYS: 1 root, 2 the row, 3 the store's index.
 * ARGV: task id, store, when to look again in ms ('' if it is done with), number of fields, the fields to take off, names of
 * blobs that were being deleted.
 */
const script = defineScript(
  'settleBlobs',
  clockLua +
    blobsLua +
    `
local root, row, index = unpack(KEYS)
local taskId, store, retryMs, count = unpack(ARGV, 1, 4)
local blobs = row .. ':blobs'
count = tonumber(count)
for i = 5, 4 + count do dropBlob(root, blobs, taskId, ARGV[i]) end
for i = 5 + count, #ARGV do redis.call('DEL', root .. 'blobgone:' .. ARGV[i]) end

local mode, stores = unpack(redis.call('HMGET', blobs, '.m', '.s'))
if not mode then return 0 end
if retryMs ~= '' then
  redis.call('ZADD', index, 'XX', int(now + retryMs), taskId)
  return 0
end
redis.call('ZREM', index, taskId)
local left = {}
for _, other in ipairs(cjson.decode(stores)) do
  if other ~= store then left[#left + 1] = other end
end
if #left > 0 then
  redis.call('HSET', blobs, '.s', cjson.encode(left))
elseif redis.call('EXISTS', row) == 0 then
  markUse(root, blobs, taskId, nil)
  redis.call('UNLINK', blobs)
else
  redis.call('HSET', row, 'bs', nowText)
  redis.call('HDEL', blobs, '.m', '.t', '.s')
  local rest = redis.call('PTTL', row)
  if rest > 0 and mode ~= '0' then
    redis.call('PEXPIRE', blobs, rest)
    markUse(root, blobs, taskId, int(now + rest))
  end
end
return 1
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await settleBlobs(connection, keys('svc/'), { taskId: 'a', storeName: 's3', taken: [], gone: [] })
 */
export const settleBlobs = async (
  connection: Connection,
  keys: Keys,
  { taskId, storeName, taken, gone, retryAfterMs }: SettleBlobs,
): Promise<void> => {
  const store = encodeStore(storeName)
  await runScript(
    connection,
    script,
    [keys.root, keys.row(taskId), keys.dueBlobs(store)],
    [
      taskId,
      store,
      retryAfterMs === undefined ? '' : String(Math.ceil(retryAfterMs)),
      String(gone.length),
      ...gone.map(blobField),
      ...taken.map(({ blob }) => blobName(blob)),
    ],
  )
}
