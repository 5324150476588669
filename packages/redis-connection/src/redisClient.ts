/**
 * The part of a node-redis client that this library uses. The clients that `createClient` of `redis` 5 and 6 returns fit
 * it; the caller's client serves as a template (`duplicate`) and is never closed or reconfigured.
 *
 * @example
 * import { createClient } from 'redis'
 * const client: RedisClient = createClient({ url: process.env.REDIS_URL })
 */
export interface RedisClient {
  readonly isOpen: boolean
  readonly isReady: boolean
  duplicate(overrides?: object): RedisClient
  connect(): Promise<unknown>
  close(): Promise<void>
  destroy(): void
  sendCommand(args: readonly string[], options?: object): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
}
