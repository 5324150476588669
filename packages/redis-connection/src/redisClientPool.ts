import type { RedisClient } from './redisClient.js'

/**
 * The part of a pool that this library uses: one client of it is duplicated, once, and none is held.
 *
 * @example
 * import { createClientPool } from 'redis'
 * const client: RedisClientPool = createClientPool({ url: process.env.REDIS_URL })
 */
export interface RedisClientPool {
  readonly isOpen: boolean
  readonly totalClients: number
  execute(task: (client: RedisClient) => unknown): Promise<unknown>
}
