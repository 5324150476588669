import type { RedisClient } from './redisClient.js'
import type { RedisClientPool } from './redisClientPool.js'
import type { RedisCluster } from './redisCluster.js'
import type { RedisSentinel } from './redisSentinel.js'

/**
 * Every kind of client that the library can be given: what `createClient`, `createClientPool`, `createSentinel` and
 * `createCluster` of `redis` 5 and 6 return.
 *
 * @example
 * import { createSentinel } from 'redis'
 * const client: AnyRedisClient = createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'sentinel-1', port: 26379 }] })
 */
export type AnyRedisClient = RedisClient | RedisClientPool | RedisSentinel | RedisCluster

/**
 * A client with its kind.
 *
 * @example
 * const known = kindOf(client)
 * if (known?.kind === 'cluster') console.log(known.client.masters.length)
 */
export type KnownClient =
  | { readonly kind: 'single'; readonly client: RedisClient }
  | { readonly kind: 'pool'; readonly client: RedisClientPool }
  | { readonly kind: 'sentinel'; readonly client: RedisSentinel }
  | { readonly kind: 'cluster'; readonly client: RedisCluster }

/**
 * Tells the kinds apart by what they can do, because the classes of two majors of the client may be loaded at once.
 *
 * @returns `undefined` for something else
 *
 * @example
 * import { createClient } from 'redis'
 * kindOf(createClient())?.kind // 'single'
 */
export const kindOf = (value: unknown): KnownClient | undefined => {
  if (typeof value !== 'object' || value === null || typeof (value as { isOpen?: unknown }).isOpen !== 'boolean')
    return undefined
  const can = (...methods: string[]): boolean =>
    methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
  if (can('nodeClient', 'duplicate')) return { kind: 'cluster', client: value as RedisCluster }
  if (can('getMasterNode', '_execute')) return { kind: 'sentinel', client: value as RedisSentinel }
  if (can('duplicate', 'sendCommand', 'destroy')) return { kind: 'single', client: value as RedisClient }
  if (can('execute') && 'totalClients' in value) return { kind: 'pool', client: value as RedisClientPool }
  return undefined
}
