/**
 * Looks at a stream.
 *
 * KEYS 1 the stream
 * Returns: last generated id, id of the first entry or '', number of entries, entries ever added or -1 where the server
 * does not count them (before 7.0), the server's clock in milliseconds. A stream that does not exist has `0-0`, '', 0, 0.
 * Cost: constant, apart from the size of the first and the last entry.
 */
const STATE = `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local state = {'0-0', '', 0, 0, now}
if redis.call('EXISTS', KEYS[1]) == 1 then
  state[4] = -1
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    local name, value = info[i], info[i + 1]
    if name == 'last-generated-id' then state[1] = value
    elseif name == 'first-entry' and value then state[2] = value[1]
    elseif name == 'length' then state[3] = value
    elseif name == 'entries-added' then state[4] = value
    end
  end
end
`

/** {@link STATE} by itself. */
export const STATE_SCRIPT = `${STATE}return state`

/**
 * Reads entries together with the state of their stream, so that what is missing before them cannot be missed.
 *
 * KEYS 1 the stream
 * ARGV 1 the id after which to read, 2 how many entries at most
 * Returns: the state as above, and the entries as XRANGE does.
 * Cost: by the number of entries, which is bounded by ARGV 2.
 */
export const PAGE_SCRIPT = `${STATE}return {state, redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])}`
