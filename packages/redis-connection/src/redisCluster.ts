import type { RedisClient } from './redisClient.js'

/**
 * A node as a cluster client knows it.
 *
 * @example
 * const addressOf = ({ host, port }: RedisClusterNode): string => `${host}:${port}`
 */
export interface RedisClusterNode {
  /** As the cluster itself names it. */
  readonly host: string
  /** As the cluster itself names it. */
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
  /** Whether `connect` was called and it was not closed since. */
  readonly isOpen: boolean
  /** The primaries that it knows. */
  readonly masters: readonly RedisClusterNode[]
  /** Who has each slot, by its number. */
  readonly slots: ReadonlyArray<{ readonly master: RedisClusterNode } | undefined>
  /** The client for a node. */
  nodeClient(node: RedisClusterNode): RedisClient | Promise<RedisClient>
  /** Another client of the cluster with the same settings but for those given, not connected. */
  duplicate(overrides?: object): RedisCluster
  /** Asks one of the nodes for all of them. */
  connect(): Promise<unknown>
  /** Closes all of its sockets at once. */
  destroy(): void
  /** Listens to an event, such as `error`. */
  on(event: string, listener: (...args: unknown[]) => void): unknown
}
