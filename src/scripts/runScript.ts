import { createHash } from 'node:crypto'

import type { Connection } from '../connection/connection.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'

/** A Lua script with the digest that the server knows it by. */
export interface Script {
  readonly name: string
  readonly source: string
  readonly sha: string
}

/**
 * Names a script and computes its digest.
 *
 * @example
 * const pong = defineScript('pong', `return 'PONG'`)
 */
export const defineScript = (name: string, source: string): Script => ({
  name,
  source,
  sha: createHash('sha1').update(source).digest('hex'),
})

/**
 * Runs a script by its digest, and by its text where the server does not know it (any more): after a restart, a
 * fail-over or `SCRIPT FLUSH`. The only place that does so.
 *
 * @example
 * await runScript(connection, pong, [], []) // 'PONG'
 */
export const runScript = async (
  connection: Connection,
  script: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> => {
  const command = ['EVALSHA', script.sha, String(keys.length), ...keys, ...args]
  try {
    return await connection.send(script.name, command)
  } catch (error) {
    if (!(error instanceof RedisRefusedError && error.reply === 'NOSCRIPT')) throw error
    return connection.send(script.name, ['EVAL', script.source, ...command.slice(2)])
  }
}
