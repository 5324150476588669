import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { RetireRequest } from '../port/lanePort.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/** Twice as long as a worker rests at most before it looks again, and some more. */
const SERVED_MS = 200_000

/**
 * Removes consumers without pending entries from the lanes' groups: the given ones, and those of workers long gone. To
 * look and to remove is one step, so no entry can come in between and be lost. Gives the promoter's role back too.
 *
 * A worker that looks for those of others (idle ms above 0) lives, and says by that that it reads these lanes: it is noted
 * until it has to have looked again. What was to wake a worker that ends is forgotten.
 *
 * KEYS: 1 root, 2… the streams. ARGV: group, worker that ends ('' for none), idle ms after which a consumer
 * counts as gone (0: spare them), consumers….
 * Returns: how many were removed. Cost: two commands a lane and one a removed consumer.
 */
const script = defineScript(
  'retireConsumers',
  clockLua +
    `
local root, group, worker, goneMs = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local given, removed = {}, 0
local servedUntil = int(now + ${String(SERVED_MS)})
for i = 4, #ARGV do given[ARGV[i]] = true end
for i = 2, #KEYS do
  if goneMs > 0 then redis.call('ZADD', root .. 'serving', servedUntil, string.sub(KEYS[i], #root + 7)) end
  local consumers = redis.pcall('XINFO', 'CONSUMERS', KEYS[i], group)
  if not consumers.err then
    for _, info in ipairs(consumers) do
      local name, pending, idle = info[2], info[4], info[6]
      if pending == 0 and (given[name] or (goneMs > 0 and idle > goneMs)) then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[i], group, name)
        removed = removed + 1
      end
    end
  end
end
if worker ~= '' then
  if redis.call('GET', root .. 'promoter') == worker then redis.call('DEL', root .. 'promoter') end
  redis.call('DEL', root .. 'wake:' .. worker)
end
return removed
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const ended = { workerId: 'w', slots: ['w-slot-0'], lanes: [lane('mail', 1)], goneMs: 0 }
 * await retireConsumers(connection, keys('svc/'), 'runner', ended)
 */
export const retireConsumers = async (
  connection: Connection,
  keys: Keys,
  group: string,
  request: RetireRequest,
): Promise<number> => {
  const reply = await runScript(
    connection,
    script,
    [keys.root, ...request.lanes.map((lane) => keys.queue(lane))],
    [group, request.workerId ?? '', String(request.goneMs), ...request.slots],
  )
  return Number(reply)
}
