import type { UnservedChange } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { parseLaneName } from '../keys/lane.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/** How many lanes one call looks at; of all that are in the registry, as many calls as that takes follow each other. */
const LANES_A_CALL = 100

/**
 * Looks at some lanes for one that nobody works off: its oldest entry has waited for a while, and no living worker has
 * said that it reads the lane (see retireConsumers). Tells of each lane once, and once more when that has changed, whoever
 * asks.
 *
 * KEYS: 1 root. ARGV: age in ms, lanes….
 * Returns: for each change the lane, and since when its oldest entry waits ('' if the lane is served, or empty, by now).
 * Cost: three commands a lane.
 */
const script = defineScript(
  'findUnserved',
  clockLua +
    `
local root, age = KEYS[1], tonumber(ARGV[1])
local serving, told = root .. 'serving', root .. 'unserved'
redis.call('ZREMRANGEBYSCORE', serving, '-inf', nowText)
local changes = {}
for i = 2, #ARGV do
  local lane = ARGV[i]
  local since
  if not redis.call('ZSCORE', serving, lane) then
    local oldest = redis.pcall('XRANGE', root .. 'queue:' .. lane, '-', '+', 'COUNT', 1)
    since = oldest[1] and string.match(oldest[1][1], '^%d+')
    if since and now - tonumber(since) < age then since = nil end
  end
  if since then
    if redis.call('HSETNX', told, lane, since) == 1 then changes[#changes + 1] = { lane, since } end
  elseif redis.call('HDEL', told, lane) == 1 then
    changes[#changes + 1] = { lane, '' }
  end
end
return changes
`,
)

/**
 * The typed caller of the script above, for all lanes of the registry, page by page. A lane that comes twice, because the
 * registry grows meanwhile, is told of once.
 *
 * @example
 * await findUnserved(connection, keys('svc/'), 120_000)
 */
export const findUnserved = async (
  connection: Connection,
  keys: Keys,
  olderThanMs: number,
): Promise<UnservedChange[]> => {
  const changes: UnservedChange[] = []
  let cursor = '0'
  do {
    const page = await connection.send('findUnserved', ['SSCAN', keys.lanes, cursor, 'COUNT', String(LANES_A_CALL)])
    const [next, names] = page as [string, string[]]
    // Redis gives a registry of up to 128 lanes at once (`set-max-listpack-entries`).
    for (let at = 0; at < names.length; at += LANES_A_CALL) {
      const args = [String(olderThanMs), ...names.slice(at, at + LANES_A_CALL)]
      const reply = await runScript(connection, script, [keys.root], args)
      changes.push(...(reply as Array<[string, string]>).map((change) => changeOf(change, reply)))
    }
    cursor = next
  } while (cursor !== '0')
  return changes
}

const changeOf = ([name, since]: [string, string], reply: unknown): UnservedChange => {
  const lane = parseLaneName(name)
  if (lane === undefined) throw new ScriptReplyError('findUnserved', reply)
  const { type, handlerVersion, tags } = lane
  return { type, handlerVersion, tags, ...(since !== '' && { since: Number(since) }) }
}
