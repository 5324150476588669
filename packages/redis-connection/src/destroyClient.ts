import type { RedisClient } from './redisClient.js'

/**
 * Closes a client at once, if it is not closed already; what is on its way is rejected.
 *
 * @example
 * destroyClient(client)
 * destroyClient(client) // nothing more happens
 */
export const destroyClient = (client: RedisClient): void => {
  try {
    client.destroy()
  } catch {
    // A client that is closed already says so by throwing, which is what was wanted.
  }
}
