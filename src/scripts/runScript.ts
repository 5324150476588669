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

/** Scripts whose text is on its way to the server, by connection. */
const underWay = new WeakMap<Connection, Set<Script>>()

/**
 * Runs a script by its digest, and by its text where the server does not know it (any more): after a restart, a
 * fail-over or `SCRIPT FLUSH`. The only place that does so.
 *
 * Of many calls that find it missing at the same time only the first sends the text: a connection keeps the order, so
 * the server knows the script when it comes to the others.
 *
 * @example
 * const pong = defineScript('pong', `return 'PONG'`)
 * await runScript(connection, pong, [], []) // 'PONG'
 */
export const runScript = async (
  connection: Connection,
  script: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> => {
  // `concat` copies a list of hundreds in one go, where spreading it takes it piece by piece.
  const command = ['EVALSHA', script.sha, String(keys.length)].concat(keys, args)
  try {
    return await connection.send(script.name, command)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return runMissing(connection, script, command)
}

/** The server did not know the digest. */
const runMissing = async (connection: Connection, script: Script, command: readonly string[]): Promise<unknown> => {
  const byDigest = (): Promise<unknown> => connection.send(script.name, command)
  const byText = (): Promise<unknown> => connection.send(script.name, ['EVAL', script.source].concat(command.slice(2)))
  const texts = underWay.get(connection) ?? new Set()
  underWay.set(connection, texts)
  if (texts.has(script)) {
    try {
      return await byDigest()
    } catch (error) {
      // Its text went another way: the connection was replaced in between.
      if (!isMissing(error)) throw error
      return byText()
    }
  }
  texts.add(script)
  try {
    return await byText()
  } finally {
    texts.delete(script)
  }
}

const isMissing = (error: unknown): boolean => error instanceof RedisRefusedError && error.reply === 'NOSCRIPT'
