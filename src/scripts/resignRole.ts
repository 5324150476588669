import type { Role } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { defineScript, runScript } from './runScript.js'

/** Gives a role back, if the holder has it. KEYS: 1 the role. ARGV: holder. Returns: 1 or 0 (had the role). */
const script = defineScript(
  'resignRole',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await resignRole(connection, keys('svc/'), { role: 'retention', holder: 'a' })
 */
export const resignRole = async (connection: Connection, keys: Keys, { role, holder }: Role): Promise<void> => {
  await runScript(connection, script, [keys.leader(role)], [holder])
}
