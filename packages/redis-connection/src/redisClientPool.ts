import type { RedisClient } from './redisClient.js'

/**
 * The part of a pool that this library uses: one client of it is duplicated, once, and none is held.
 *
 * @example
 * import { createClientPool } from 'redis'
 * const client: RedisClientPool = createClientPool({ url: process.env.REDIS_URL })
 */
export interface RedisClientPool {
  /** Whether `connect` was called and it was not closed since. */
  readonly isOpen: boolean
  /** How many clients it has at the moment. */
  readonly totalClients: number
  /** Lends one of its clients to a task. */
  execute(task: (client: RedisClient) => unknown): Promise<unknown>
}
