import type { KnownClient } from './anyRedisClient.js'
import { clusterSlotOwner } from './clusterSlotOwner.js'
import type { RedisClient } from './redisClient.js'
import type { RedisClientPool } from './redisClientPool.js'
import { sentinelPrimary } from './sentinelPrimary.js'
import type { ServerLocator, WayToServer } from './serverLocator.js'

/**
 * Finds the server behind any kind of client.
 *
 * @param key any key below the prefix; all of them lie in its slot
 *
 * @example
 * locateServer({ kind: 'single', client }, 'svc-a/tasks:')
 */
export const locateServer = (known: KnownClient, key: string): ServerLocator => {
  const listeners = new Set<() => void>()
  return {
    ...wayTo(known, key),
    reached: () => {
      for (const listener of [...listeners]) listener()
    },
    onReached: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const wayTo = (known: KnownClient, key: string): WayToServer => {
  switch (known.kind) {
    case 'single':
      return singleServer(known.client)
    case 'pool':
      return pooledServer(known.client)
    case 'sentinel':
      return sentinelPrimary(known.client)
    case 'cluster':
      return clusterSlotOwner(known.client, key)
  }
}

const stays = { doubt: () => undefined, onMoved: () => () => undefined }

const singleServer = (client: RedisClient): WayToServer => ({ ...stays, template: () => Promise.resolve(client) })

const pooledServer = (pool: RedisClientPool): WayToServer => {
  let first: Promise<RedisClient> | undefined
  return {
    ...stays,
    template: async () => {
      first ??= pool.execute((client) => client.duplicate()) as Promise<RedisClient>
      try {
        return await first
      } catch (error) {
        first = undefined
        throw error
      }
    },
  }
}
