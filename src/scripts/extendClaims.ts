import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { clockLua, fenceLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Renews claims that are still their consumers': resets their idle time without counting a delivery, and renews their
 * places under the fleet cap.
 *
 * KEYS: 1 root, 2… the streams, one a claim. ARGV: group, then for each claim: consumer, entry id, deliveries, lane,
 * visibility in ms, cap type.
 * Returns: for each claim 1 (renewed) or 0 (lost). Cost: two or three commands a claim.
 */
const script = defineScript(
  'extendClaims',
  clockLua +
    fenceLua +
    `
local root, group, at, replies = KEYS[1], ARGV[1], 2, {}
for i = 2, #KEYS do
  local consumer, entryId, deliveries, lane, visibilityMs, capType = unpack(ARGV, at, at + 5)
  if owns(KEYS[i], group, consumer, entryId, deliveries) then
    redis.call('XCLAIM', KEYS[i], group, consumer, 0, entryId, 'JUSTID')
    if capType ~= '' then
      redis.call('ZADD', root .. 'cap:' .. capType, int(now + visibilityMs), lane .. ' ' .. entryId)
    end
    replies[i - 1] = 1
  else
    replies[i - 1] = 0
  end
  at = at + 6
end
return replies
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const [isStillOurs] = await extendClaims(connection, keys('svc/'), 'runner', [claim])
 */
export const extendClaims = async (
  connection: Connection,
  keys: Keys,
  group: string,
  claims: readonly Claim[],
): Promise<boolean[]> => {
  const scriptKeys = [keys.root]
  const args = [group]
  for (const claim of claims) {
    scriptKeys.push(keys.queue(claim.lane))
    args.push(...claimFields(claim))
  }
  const reply = await runScript(connection, script, scriptKeys, args)
  if (!Array.isArray(reply) || reply.length !== claims.length) throw new ScriptReplyError(script.name, reply)
  return reply.map((renewed) => renewed === 1)
}

const claimFields = ({ consumer, entryId, deliveryCount, lane, visibilityTimeoutMs, isCapped }: Claim): string[] => [
  consumer,
  entryId,
  String(deliveryCount),
  lane.name,
  String(visibilityTimeoutMs),
  isCapped ? lane.type : '',
]
