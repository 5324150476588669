/**
 * The part of a node-redis client that this library uses. The clients that `createClient` of `redis` 5 and 6 returns fit
 * it; the caller's client serves as a template (`duplicate`) and is never closed or reconfigured.
 *
 * @example
 * import { createClient } from 'redis'
 * const client: RedisClient = createClient({ url: process.env.REDIS_URL })
 */
export interface RedisClient {
  /** Whether `connect` was called and it was not closed since. */
  readonly isOpen: boolean
  /** Whether commands can be sent at the moment. */
  readonly isReady: boolean
  /** Another client with the same settings but for those given, not connected. */
  duplicate(overrides?: object): RedisClient
  /** Opens its socket. */
  connect(): Promise<unknown>
  /** Closes it once everything is answered that is on its way. */
  close(): Promise<void>
  /** Closes it at once; what is on its way is rejected. */
  destroy(): void
  /** Sends a command by its words. */
  sendCommand(args: readonly string[], options?: object): Promise<unknown>
  /** Listens to an event, such as `error`. */
  on(event: string, listener: (...args: unknown[]) => void): unknown
  /** Ends that. */
  off(event: string, listener: (...args: unknown[]) => void): unknown
}
