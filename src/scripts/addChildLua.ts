/**
 * Needs the clock. Puts a child in its place among the children of its parent, whose history gets the event. The parent's
 * row is derived from the root.
 */
export const addChildLua = `
local function addChild(root, parent, childId, kind)
  local row = root .. 'row:' .. parent
  redis.call('HINCRBY', row, 'oc', 1)
  redis.call('RPUSH', row .. ':children', childId)
  redis.call('RPUSH', row .. ':events', '{"at":' .. nowText .. ',"kind":"spawned-child","childTaskId":' ..
    cjson.encode(childId) .. ',"childType":' .. cjson.encode(kind) .. '}')
  redis.call('LTRIM', row .. ':events', -1000, -1)
end
`
