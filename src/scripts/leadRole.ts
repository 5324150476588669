import type { LeadRole } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Takes a role that nobody has, or keeps it for its holder.
 *
 * KEYS: 1 the role. ARGV: holder, time in ms. Returns: 1 or 0 (has the role).
 */
const script = defineScript(
  'leadRole',
  `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await leadRole(connection, keys('svc/'), { role: 'retention', holder: 'a', ttlMs: 30_000 })
 */
export const leadRole = async (
  connection: Connection,
  keys: Keys,
  { role, holder, ttlMs }: LeadRole,
): Promise<boolean> =>
  (await runScript(connection, script, [keys.leader(role)], [holder, String(Math.max(1, Math.ceil(ttlMs)))])) === 1
