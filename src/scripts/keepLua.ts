import { DEFAULT_KEEP_TEXT } from '../rows/keepText.js'

/** Where a row is ended by somebody who reads it once more, or who is not its worker, it stays for this long at least. */
const LAST_LOOK_MS = 60_000

const [DEFAULT_MS] = DEFAULT_KEEP_TEXT.split('|')

/**
 * Needs the clock. How long rows are kept.
 *
 * `keptMs` reads from the times of a policy (see keepTextOf) how long a row that ends with `status` is kept: 0 for no longer
 * than that, nil for good; `atLeast` makes it longer. `keepLeaf` lets the server forget a row without children.
 * `keepFamily` lets a row go at its time whose children have outlived it.
 */
export const keepLua = `
local function keptMs(times, status)
  if not times then return ${DEFAULT_MS} end
  local ended, failed = string.match(times, '^(-?%d+)|(-?%d+)|')
  local kept = tonumber(status == 'failed' and failed or ended)
  return kept >= 0 and kept or nil
end

local function atLeast(kept, ms)
  return ms and math.max(kept, ms)
end

local function keepLeaf(row, kept, hasEvents, hasSteps)
  local ms = kept == ${DEFAULT_MS} and '${DEFAULT_MS}' or int(kept > 0 and kept or ${String(LAST_LOOK_MS)})
  redis.call('PEXPIRE', row, ms)
  if hasEvents then redis.call('PEXPIRE', row .. ':events', ms) end
  if hasSteps then redis.call('PEXPIRE', row .. ':steps', ms) end
end

local function keepFamily(root, taskId, status)
  local open, times, ended = unpack(redis.call('HMGET', root .. 'row:' .. taskId, 'oc', 'kp', 'x'))
  local kept = open == '0' and keptMs(times, status)
  if kept then redis.call('ZADD', root .. 'retention', 'XX', 'LT', int(ended + kept), taskId) end
end
`
