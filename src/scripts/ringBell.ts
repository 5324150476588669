import type { Connection } from '../connection/connection.js'
import { bellLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Rings a bell once more, unless it still holds a token.
 *
 * KEYS: 1 the bell. Returns: 1.
 */
const script = defineScript('ringBell', bellLua + `ring(KEYS[1]) return 1`)

/**
 * The typed caller of the script above.
 *
 * @example
 * await ringBell(connection, keys('svc/').bell(lane('mail', 1)))
 */
export const ringBell = async (connection: Connection, bell: string): Promise<void> => {
  await runScript(connection, script, [bell], [])
}
