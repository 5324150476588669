import { deadLettersLua } from './deadLettersLua.js'
import { heldKeyLua } from './heldKeyLua.js'
import { keepLua } from './keepLua.js'

/**
 * Needs the clock and the tree. The one place where a row becomes terminal: writes the status and the time with the other
 * fields given, lets go of the idempotency key, tells the parent, sees to how long the row is kept, and puts a failed task
 * into the dead letters.
 *
 * A row without a parent goes after its time, and not before its key is free: one without children is forgotten by the
 * server, one with children is put into the index that removeExpired works off. A child is kept as one with its parent,
 * which may have had to wait for it. A task that leaves open children behind is marked until they have been reaped. If
 * nothing is to be kept and `isLast` says that nobody reads the row after this, it is removed in place of the write.
 *
 * `policy` is that of the handler, which counts where the row has none of its own: { text as the row keeps it, see
 * encodePolicy; its times, see keepTextOf }, or nil. Answers what tellParent does, and whether the row is gone.
 */
export const endTaskLua =
  heldKeyLua +
  keepLua +
  deadLettersLua +
  `
local function endTask(root, group, taskId, status, isLast, policy, ...)
  local row = root .. 'row:' .. taskId
  local parent, open, times, key, kind, hasSteps = unpack(redis.call('HMGET', row, 'pa', 'oc', 'kp', 'k', 't', 'st'))
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
    redis.call('HSET', row, 's', status, 'x', int(now), ...)
    if policy then redis.call('HSET', row, 'rp', policy[1], 'kp', policy[2]) end
    if status == 'failed' then bury(root, deadLetterOf(redis.call('HGET', row, 'dr')), kind, taskId) end
    if kept and open then
      redis.call('ZADD', root .. 'retention', int(now + kept), taskId)
    elseif kept then
      keepLeaf(row, kept, hasSteps)
    end
  end
  if open and open ~= '0' then redis.call('ZADD', root .. 'orphans', nowText, taskId) end
  local told = tellParent(root, group, taskId, status, parent, state, parentKind)
  if state == 'succeeded' or state == 'failed' or state == 'cancelled' then keepFamily(root, parent, state) end
  return told, isGone
end
`
