import { blobsLua } from './blobsLua.js'
import { deadLettersLua } from './deadLettersLua.js'
import { heldKeyLua } from './heldKeyLua.js'
import { keepLua } from './keepLua.js'

/**
 * Needs the clock and the tree. The one place where a row becomes terminal (usualTurn writes out its usual case): writes the
 * status and the time with the other fields given, lets go of the idempotency key, tells the parent, sees to how long the row
 * and the task's blobs are kept, and puts a failed task into the dead letters.
 *
 * A row without a parent goes after its time, and not before its key is free: one without children is forgotten by the
 * server, one with children is put into the index that removeExpired works off. A child is kept as one with its parent,
 * which may have had to wait for it. A task that leaves open children behind is marked until they have been reaped. If
 * nothing is to be kept and `isLast` says that nobody reads the row after this, it is removed in place of the write.
 *
 * `head` is what `headOf` answers, nil if it has not been read. `policy` is that of the handler, which counts where the row has none of its own: { text as the row keeps it, see
 * encodePolicy; its times, see keepTextOf }, or nil. Answers what tellParent does, and whether the row is gone.
 */
export const endTaskLua =
  heldKeyLua +
  keepLua +
  deadLettersLua +
  blobsLua +
  `
local function headOf(row)
  return redis.call('HMGET', row, 's', 'run', 'oc', 'pa', 'kp', 'k', 't', 'st', 'fg', 'bl')
end

local function endTask(root, group, taskId, status, isLast, policy, head, ...)
  local row = root .. 'row:' .. taskId
  head = head or headOf(row)
  local open, parent, times, key, kind, hasSteps = head[3], head[4], head[5], head[6], head[7], head[8]
  local stores = head[10]
  local state, parentKind
  if parent then state, parentKind = unpack(redis.call('HMGET', root .. 'row:' .. parent, 's', 't')) end
  policy = not times and policy
  if policy then times = policy[2] end
  local kept = not state and keptMs(times, status)
  if key then
    letGoOfKey(root, kind, key, taskId)
    kept = kept and atLeast(kept, heldMs(root, kind, key, taskId))
  end
  local isGone = kept == 0 and not open and isLast
  if isGone then
    redis.call('UNLINK', row, row .. ':events', row .. ':steps')
  else
    redis.call('HSET', row, 's', status, 'x', nowText, ...)
    if policy then redis.call('HSET', row, 'rp', policy[1], 'kp', policy[2]) end
    if status == 'failed' then bury(root, deadLetterOf(redis.call('HGET', row, 'dr')), kind, taskId) end
    if kept and open then
      redis.call('ZADD', root .. 'retention', int(now + kept), taskId)
    elseif kept then
      -- Only a cancel and being sent again leave events with a task without children.
      keepLeaf(row, kept, head[9] or status == 'cancelled', hasSteps)
    end
  end
  if stores then endBlobs(root, row, taskId, kind, status, stores, times, kept, not open, isGone) end
  if open and open ~= '0' then redis.call('ZADD', root .. 'orphans', nowText, taskId) end
  if not state then return '', isGone end
  local told = tellParent(root, group, taskId, status, parent, state, parentKind)
  if state == 'succeeded' or state == 'failed' or state == 'cancelled' then keepFamily(root, parent, state) end
  return told, isGone
end
`
