import { hashSlot } from './hashSlot.js'
import type { RedisClient } from './redisClient.js'
import type { RedisCluster, RedisClusterNode } from './redisCluster.js'
import type { WayToServer } from './serverLocator.js'
import { socketOf } from './socketOf.js'

/**
 * The node that has a key's slot. First as the cluster client knows it; in case of doubt the cluster is asked anew, by a
 * client like it that lives only as long as that takes, because the caller's hears of changes only by what it sends.
 */
export const clusterSlotOwner = (cluster: RedisCluster, key: string): WayToServer => {
  const slot = hashSlot(key)
  let known: { readonly template: Promise<RedisClient>; current?: RedisClient } | undefined
  let last: RedisClient | undefined

  const find = async (): Promise<RedisClient> => {
    if (last === undefined) return ownerIn(cluster, slot)
    try {
      return await ask(cluster, slot, last, cluster.masters.map(rootNodeOf))
    } catch {
      // None of the nodes that are known answered. The client may have been given others to begin with.
      return ask(cluster, slot, last)
    }
  }

  return {
    template: async () => {
      const asked = (known ??= { template: find() })
      try {
        last = asked.current = await asked.template
        return last
      } catch (error) {
        if (known === asked) known = undefined
        throw error
      }
    },
    doubt: (template) => {
      if (known?.current === template) known = undefined
    },
    onMoved: () => () => undefined,
  }
}

const rootNodeOf = ({ host, port, client }: RedisClusterNode): object => ({
  socket: { host, port, ...(client && pick(socketOf(client))) },
})

const pick = ({ host, port }: { host?: string; port?: number }): object => ({
  ...(host && { host }),
  ...(port && { port }),
})

const ask = async (
  cluster: RedisCluster,
  slot: number,
  like: RedisClient,
  rootNodes?: readonly object[],
): Promise<RedisClient> => {
  const { options } = like as { options?: object }
  const scout = cluster.duplicate({
    minimizeConnections: true,
    // One attempt a node: who cannot be reached has nothing to tell.
    defaults: { ...options, socket: { ...socketOf(like), reconnectStrategy: false } },
    ...(rootNodes && { rootNodes }),
  })
  // Told by the rejection of what is awaited here.
  scout.on('error', () => undefined)
  scout.on('node-error', () => undefined)
  try {
    await scout.connect()
    return (await ownerIn(scout, slot)).duplicate()
  } finally {
    scout.destroy()
  }
}

const ownerIn = async (cluster: RedisCluster, slot: number): Promise<RedisClient> => {
  const owner = cluster.slots[slot]?.master
  if (owner === undefined) throw new Error(`no node of the cluster has slot ${String(slot)}`)
  return cluster.nodeClient(owner)
}
