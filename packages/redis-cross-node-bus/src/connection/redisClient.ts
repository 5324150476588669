/**
 * The part of a node-redis client that the bus uses. The clients that `createClient` of `redis` 5 and 6 returns fit it.
 * The one the caller passes serves as a template only: it is duplicated, never closed, reconfigured or sent a command.
 *
 * @example
 * ```ts
 * const client: RedisClient = createClient({ url: process.env.REDIS_URL })
 * ```
 */
export type RedisClient = {
  readonly isReady: boolean
  duplicate(overrides?: object): RedisClient
  connect(): Promise<unknown>
  destroy(): void
  sendCommand(args: readonly string[], options?: object): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
}
