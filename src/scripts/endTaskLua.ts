/**
 * Needs the clock and the tree. The one place where a row becomes terminal: writes the status and the time with the
 * other fields given, and tells the parent. Answers what tellParent does.
 */
export const endTaskLua = `
local function endTask(root, group, taskId, status, ...)
  redis.call('HSET', root .. 'row:' .. taskId, 's', status, 'x', int(now), ...)
  return tellParent(root, group, taskId, status)
end
`
