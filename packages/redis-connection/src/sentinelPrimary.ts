import type { RedisClient } from './redisClient.js'
import type { RedisSentinel } from './redisSentinel.js'
import type { ServerLocator } from './serverLocator.js'
import { socketOf } from './socketOf.js'

/** How often in a row there may be no primary before the Sentinel client is made to look for it. */
const PATIENCE = 16

/**
 * The primary that a Sentinel client knows of.
 *
 * The client hears of a fail-over by itself and is asked where the primary is, which costs nothing. Sending a command
 * over it instead would make it ask the Sentinels without a pause for as long as they do not know either; so that is
 * only what follows when it has heard nothing for long.
 */
export const sentinelPrimary = (sentinel: RedisSentinel): ServerLocator => {
  const listeners = new Set<() => void>()
  let credentials: Promise<RedisClient> | undefined
  let misses = 0

  const onTopology = (change: unknown): void => {
    if ((change as { type?: string }).type === 'MASTER_CHANGE') for (const listener of listeners) listener()
  }

  return {
    template: async () => {
      credentials ??= sentinel._execute(false, (client) => Promise.resolve(client.duplicate()))
      let like: RedisClient
      try {
        like = await credentials
      } catch (error) {
        credentials = undefined
        throw error
      }
      const primary = sentinel.getMasterNode()
      if (primary === undefined) {
        if (++misses % PATIENCE === 0) credentials = undefined
        throw new Error('the Sentinel client knows of no primary at the moment')
      }
      misses = 0
      return like.duplicate({ socket: { ...socketOf(like), host: primary.host, port: primary.port } })
    },
    doubt: () => undefined,
    onMoved: (listener) => {
      if (listeners.size === 0) sentinel.on('topology-change', onTopology)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) sentinel.off('topology-change', onTopology)
      }
    },
  }
}
