import type { RedisClient } from '@furystack/redis-connection'

/**
 * By which policy the server removes keys when its memory is full; `undefined` if it removes none, or does not say: the
 * user of the client need not be allowed to ask.
 *
 * @example
 * await evictionPolicy(client) // 'allkeys-lru'
 */
export const evictionPolicy = async (client: RedisClient): Promise<string | undefined> => {
  const info = await client.sendCommand(['INFO', 'memory']).catch(() => '') // see above
  const policy = /^maxmemory_policy:([\w-]+)/m.exec(String(info))?.[1]
  return policy === 'noeviction' ? undefined : policy
}
