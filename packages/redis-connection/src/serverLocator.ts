import type { RedisClient } from './redisClient.js'

/**
 * Knows which server has the keys at the moment, and what a client for it looks like. One serves all connections of an
 * adapter, so that they look for it together.
 *
 * @example
 * const server: ServerLocator = locateServer({ kind: 'single', client }, 'svc-a/')
 * const template = await server.template()
 * server.doubt(template) // the connection was lost: look anew
 */
export interface ServerLocator {
  /**
   * A client that has the address and the credentials of the server; it is duplicated, and otherwise left alone.
   *
   * Rejects when the server is not known at the moment, which may change.
   */
  template(): Promise<RedisClient>
  /** A connection that was made from this template was lost, or its server sent the command elsewhere. */
  doubt(template: RedisClient): void
  /** Tells when another server has taken over. Returns what ends that. */
  onMoved(listener: () => void): () => void
  /** A connection to the server was made. */
  reached(): void
  /** Tells of that, so that those which pause between their attempts try again at once. Returns what ends it. */
  onReached(listener: () => void): () => void
}

/**
 * How the server behind a client is found.
 *
 * @example
 * const way: WayToServer = locateServer({ kind: 'single', client }, 'svc/')
 */
export type WayToServer = Pick<ServerLocator, 'template' | 'doubt' | 'onMoved'>
