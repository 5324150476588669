import { failUnrunLua } from './failUnrunLua.js'

/**
 * Pieces of Lua that several scripts share; each script puts what it needs in front of its own text.
 *
 * Conventions: `root` is the common beginning of all keys and always KEYS[1]. Keys of rows, bells, caps and of lanes that
 * are only known from stored data are derived from it, because which ones are needed is known only once the script has
 * read an entry; all of them lie in the hash slot of the prefix's hash tag. Times are epoch milliseconds of the server.
 */

/**
 * `nowText`, and `int(n)`: a number as decimal text without an exponent, rounded. Printing a number as one
 * with a point costs as much as a command, so the text is put together of what the server answers, or of whole parts.
 */
export const timeLua = `
local time = redis.call('TIME')
local nowText = time[1] .. string.sub('00000' .. time[2], -6, -4)
local function int(n)
  if n < 0 or n % 1 ~= 0 then return string.format('%.0f', n) end
  if n < 1000000 then return string.format('%d', n) end
  local low = n % 1000000
  return string.format('%d%06d', (n - low) / 1000000, low)
end
`

/** The same, and `now` as a number. */
export const clockLua =
  timeLua +
  `
local now = tonumber(nowText)
`

/**
 * Needs nothing. `ring(bell)` leaves at most one token, so that bells never grow; a bell is looked at once a call, as only
 * lanes that have turned out empty since may have theirs taken away.
 */
export const bellLua = `
local rung = {}
local function ring(bell)
  if rung[bell] then return end
  rung[bell] = true
  if redis.call('EXISTS', bell) == 0 then redis.call('LPUSH', bell, '1') end
end
`

/**
 * Needs the clock and the bell. `enqueue` writes an entry and rings; the lane, its group and its place in the registry
 * are made when the stream is not there, so the usual case costs one command. `park` schedules; a member that is parked
 * already gets a serial number, because a second entry of one task must not swallow the first.
 */
export const enqueueLua = `
local function enqueue(root, group, lane, taskId, kind, version)
  local stream = root .. 'queue:' .. lane
  if not redis.call('XADD', stream, 'NOMKSTREAM', '*', 'taskId', taskId, 'type', kind, 'handlerVersion', version) then
    redis.call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
    redis.call('SADD', root .. 'lanes', lane)
    redis.call('XADD', stream, '*', 'taskId', taskId, 'type', kind, 'handlerVersion', version)
  end
  ring(root .. 'bell:' .. lane)
end

local function park(root, member, due)
  local schedule = root .. 'scheduler'
  local unique, serial = member, 0
  while redis.call('ZSCORE', schedule, unique) do
    serial = serial + 1
    unique = string.sub(member, 1, -2) .. ',"n":' .. serial .. '}'
  end
  redis.call('ZADD', schedule, int(due), unique)
  if redis.call('ZRANK', schedule, unique) == 0 then ring(root .. 'bell') end
  return unique
end
`

/**
 * Needs the bell. `release` frees the fleet-cap place of an entry and wakes whoever waits for one; `settle` removes the
 * entry for good in the same step, `settleAll` some entries of a lane.
 */
export const settleLua = `
local function release(root, capType, lane, entryId)
  if capType == '' then return end
  redis.call('ZREM', root .. 'cap:' .. capType, lane .. ' ' .. entryId)
  ring(root .. 'capbell:' .. capType)
end

local function settle(root, group, lane, entryId, capType)
  local stream = root .. 'queue:' .. lane
  redis.call('XACK', stream, group, entryId)
  redis.call('XDEL', stream, entryId)
  release(root, capType, lane, entryId)
end

local function settleAll(root, group, lane, entryIds, capType)
  local stream = root .. 'queue:' .. lane
  redis.call('XACK', stream, group, unpack(entryIds))
  redis.call('XDEL', stream, unpack(entryIds))
  if capType == '' then return end
  for _, entryId in ipairs(entryIds) do release(root, capType, lane, entryId) end
end
`

/**
 * Needs nothing. `owns` is the fence of a delivery: the entry is still pending for this consumer, and has not been
 * delivered again since.
 */
export const fenceLua = `
local function owns(stream, group, consumer, entryId, deliveries)
  local pending = redis.pcall('XPENDING', stream, group, entryId, entryId, '1')
  if pending.err or not pending[1] then return false end
  return pending[1][2] == consumer and pending[1][4] == tonumber(deliveries)
end
`

/**
 * Needs the clock. Attempt `n` is the row's field `a<n>`: see decodeAttempt.
 * `leaseEnd` is when the lease of the present one is over, told by the row's `d` and the attempt; `loseAttempt` ends an open one, whoever began it, as timed-out, and answers how many have been lost by now.
 */
export const attemptLua = `
local function attemptText(started, finished, letter, worker, err)
  return started .. '|' .. (finished == '' and '' or int(finished - started)) .. '|' .. letter .. '|' .. worker .. '|' .. err
end

-- See rowFieldsOf: until it is renewed a lease is told from the beginning of its attempt.
local function leaseEnd(told, attempt)
  if not told or string.sub(told, 1, 1) ~= '+' then return tonumber(told) or 0 end
  return (tonumber(string.match(attempt or '', '^%d+')) or 0) + told
end

local function loseAttempt(row, run)
  local started, worker = string.match(redis.call('HGET', row, 'a' .. run) or '', '^(%d+)|%d*|%a|([^|]*)|')
  if started then redis.call('HSET', row, 'a' .. run, attemptText(started, nowText, 't', worker, '')) end
  return redis.call('HINCRBY', row, 'l', 1)
end
`

/**
 * Needs the clock, the attempts and the end of tasks. Begins the next attempt of a pending row, or takes a running one
 * over whose lease is over. A child whose parent is over is cancelled instead; a task that has lost `maxDeliveries` attempts
 * (0: no limit), or was to have begun by now, fails. With `onlyIfDue` a row whose time is to come is left alone. Answers a
 * word: begun, cancelled, failed, missing, stale, owned, early; and the attempt's number, what tellParent answered, the
 * row's status, the end of the lease that stands in the way, or the due time; for a begun one also the row's fields as they
 * were before.
 */
export const beginAttemptLua =
  failUnrunLua +
  `
local function beginAttempt(root, group, taskId, worker, visibilityMs, redelivered, maxDeliveries, onlyIfDue)
  local row = root .. 'row:' .. taskId
  -- Room for the fields of a usual row, so that the table does not grow in steps.
  local flat, fields = redis.call('HGETALL', row), { s = false, t = false, v = false, c = false, p = false, p1 = false,
    run = false, d = false }
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  local status = fields.s
  if not status then return 'missing', '' end
  local run, losses = tonumber(fields.run) or 0, tonumber(fields.l) or 0
  if status == 'running' or status == 'cancelling' then
    if not redelivered then
      local leaseMs = leaseEnd(fields.d, fields['a' .. run])
      if leaseMs > now then return 'owned', int(leaseMs) end
    end
    losses = loseAttempt(row, run)
    if status == 'cancelling' then
      return 'cancelled', endTask(root, group, taskId, 'cancelled', false, nil, nil)
    end
  elseif status ~= 'pending' then
    return 'stale', status
  end
  if fields.pa then
    local parent = redis.call('HGET', root .. 'row:' .. fields.pa, 's')
    if parent == 'succeeded' or parent == 'failed' or parent == 'cancelled' then
      return 'cancelled', endTask(root, group, taskId, 'cancelled', false, nil, nil, 'cr', 'parent-ended')
    end
  end
  if onlyIfDue and status == 'pending' and (tonumber(fields.n) or 0) > now then return 'early', fields.n end
  if maxDeliveries > 0 and losses >= maxDeliveries then
    return 'failed', failLostTask(root, group, taskId, losses)
  end
  if fields.sb and run <= (tonumber(fields.us) or 0) then
    redis.call('ZREM', root .. 'deadlines', taskId)
    if tonumber(fields.sb) <= now then return 'failed', failLateTask(root, group, taskId) end
  end
  run = run == 0 and '1' or int(run + 1)
  redis.call('HSET', row, 's', 'running', 'd', '+' .. int(visibilityMs), 'run', run, 'a' .. run, nowText .. '||i|' .. worker .. '|')
  return 'begun', run, fields
end
`
