/**
 * Needs the clock and the end of tasks. Fail tasks that are not to be run (again), with the messages of the errors that
 * they are named after. Answer what tellParent does.
 */
export const failUnrunLua = `
local function failUnrun(root, group, taskId, reason, name, message)
  return endTask(root, group, taskId, 'failed', false, nil, nil, 'dr', reason, 'e',
    cjson.encode({ name = name, message = message }))
end

local function failLostTask(root, group, taskId, losses)
  return failUnrun(root, group, taskId, 'lost', 'MaxDeliveriesExceededError', 'Task ' .. taskId ..
    ' was delivered ' .. int(losses) .. ' times, and each time its worker died or stood still')
end

local function failLateTask(root, group, taskId)
  return failUnrun(root, group, taskId, 'expired', 'TaskExpiredError',
    'Task ' .. taskId .. ' had not been begun when its time to start was over')
end
`
