import type { KnownClient } from './anyRedisClient.js'
import type { Objection } from './objection.js'
import type { RedisClient } from './redisClient.js'

const OLDEST = [6, 2] as const

/**
 * Makes a check of the server: new enough, and of the kind that the client is for. It asks `HELLO`, which every user may
 * send, once for all connections; a server that passed is not asked again.
 *
 * The check tells what is wrong with a server that does not fit, and rejects with what the client says if it could not be
 * asked.
 *
 * @example
 * const check = serverCheck('single')
 * const objection = await check(client)
 * if (objection) throw new TypeError(`client: ${objection.value} is not ${objection.allowed}`)
 */
export const serverCheck = (kind: KnownClient['kind']): ((client: RedisClient) => Promise<Objection | undefined>) => {
  let hasPassed = false
  return async (client) => {
    if (hasPassed) return undefined
    const hello = await client.sendCommand(['HELLO']).catch((error: unknown) => {
      // HELLO came with Redis 6.0.
      if (/unknown command/i.test(String(error))) return { version: 'before 6.0' }
      throw error
    })
    const objection = objectionToServer(fieldsOf(hello), kind)
    hasPassed = objection === undefined
    return objection
  }
}

const objectionToServer = (
  { version, mode }: Record<string, string>,
  kind: KnownClient['kind'],
): Objection | undefined => {
  if (isTooOld(version))
    return { value: `a server of version ${version}`, allowed: 'one of Redis 6.2 or newer, or Valkey' }
  if (mode === 'sentinel')
    return {
      value: 'connected to a Sentinel',
      allowed: 'one of createSentinel, which finds the primary and follows a fail-over',
    }
  if (mode === 'cluster' && kind !== 'cluster')
    return {
      value: 'connected to a node of a cluster',
      allowed: 'one of createCluster, which finds the node of the prefix’s slot',
    }
  return undefined
}

/** An object or Map under RESP 3, a flat list under RESP 2. */
const fieldsOf = (hello: unknown): Record<string, string> => {
  if (hello instanceof Map) return Object.fromEntries(hello) as Record<string, string>
  if (!Array.isArray(hello)) return { ...(hello as Record<string, string>) }
  const fields: Record<string, string> = {}
  for (let at = 0; at + 1 < hello.length; at += 2) fields[String(hello[at])] = String(hello[at + 1])
  return fields
}

/** What does not look like a version is given the benefit of the doubt. */
const isTooOld = (version: string | undefined): version is string => {
  if (version === 'before 6.0') return true
  const [major, minor] = (/^(\d+)\.(\d+)/.exec(version ?? '') ?? []).slice(1).map(Number)
  if (major === undefined || minor === undefined) return false
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
}
