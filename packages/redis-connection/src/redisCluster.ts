import type { RedisClient } from './redisClient.js'

/** A node as a cluster client knows it. */
export interface RedisClusterNode {
  readonly host: string
  readonly port: number
  /** Its client, if there is one; that one has the address as it is reached from here. */
  readonly client?: object | undefined
}

/**
 * The part of a cluster client that this library uses: it tells which node has the slot of the prefix. Commands go over
 * connections of the library's own to that node, because with a hash tag in the prefix all keys lie in one slot.
 *
 * @example
 * import { createCluster } from 'redis'
 * const client: RedisCluster = createCluster({ rootNodes: [{ url: 'redis://node-1:6379' }, { url: 'redis://node-2:6379' }] })
 */
export interface RedisCluster {
  readonly isOpen: boolean
  readonly masters: readonly RedisClusterNode[]
  readonly slots: ReadonlyArray<{ readonly master: RedisClusterNode } | undefined>
  nodeClient(node: RedisClusterNode): RedisClient | Promise<RedisClient>
  duplicate(overrides?: object): RedisCluster
  connect(): Promise<unknown>
  destroy(): void
  on(event: string, listener: (...args: unknown[]) => void): unknown
}
