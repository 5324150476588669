import { heldKeyLua } from './heldKeyLua.js'

/**
 * Needs the clock and the tree. The one place where a row becomes terminal: writes the status and the time with the
 * other fields given, lets go of the idempotency key, and tells the parent. Answers what tellParent does.
 */
export const endTaskLua =
  heldKeyLua +
  `
local function endTask(root, group, taskId, status, ...)
  local row = root .. 'row:' .. taskId
  redis.call('HSET', row, 's', status, 'x', int(now), ...)
  local parent, key, kind = unpack(redis.call('HMGET', row, 'pa', 'k', 't'))
  if key then letGoOfKey(root, kind, key, taskId) end
  return tellParent(root, group, parent, taskId, status)
end
`
