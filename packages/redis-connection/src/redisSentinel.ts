import type { RedisClient } from './redisClient.js'

/**
 * The part of a Sentinel client that this library uses: it tells which server is the primary, and how to sign in there.
 * Commands go over connections of the library's own.
 *
 * @example
 * import { createSentinel } from 'redis'
 * const client: RedisSentinel = createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'sentinel-1', port: 26379 }] })
 */
export interface RedisSentinel {
  /** Whether `connect` was called and it was not closed since. */
  readonly isOpen: boolean
  /** Where the primary is, as far as is known at the moment. */
  getMasterNode(): { readonly host: string; readonly port: number } | undefined
  /** What every command of a Sentinel client goes through; it looks for the primary when that is not there. */
  _execute<T>(isReadonly: boolean | undefined, task: (client: RedisClient) => Promise<T>): Promise<T>
  /** Another client of the Sentinels with the same settings, not connected; not with `redis` 5. */
  duplicate?(): RedisSentinel
  /** Listens to an event: `topology-change` tells of a new primary. */
  on(event: string, listener: (...args: unknown[]) => void): unknown
  /** Ends that. */
  off(event: string, listener: (...args: unknown[]) => void): unknown
}
