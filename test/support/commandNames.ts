import { createHash } from 'node:crypto'

import type { NameCommand } from './gatedClient.js'

/** Below the one function that sends them all: the one whose script it is. Bundlers put numbers behind names. */
const CALLER = /at (?:async )?runScript\b.*\n\s+at (?:async )?(?:\w+\.)*([A-Za-z]+)/

/**
 * Calls commands by their first word, and scripts, of which Redis knows only a digest, by the function that sends them.
 * It is found on the stack, once a script.
 */
export const commandNames = (): NameCommand => {
  const byDigest = new Map<string, string>()
  return ([command = '', script = '']) => {
    if (command !== 'EVALSHA' && command !== 'EVAL') return command
    const digest = command === 'EVAL' ? createHash('sha1').update(script).digest('hex') : script
    let name = byDigest.get(digest)
    if (name === undefined) {
      name = CALLER.exec(new Error().stack ?? '')?.[1] ?? digest.slice(0, 8)
      byDigest.set(digest, name)
    }
    return name
  }
}
