import { askSentinels } from './askSentinels.js'
import type { RedisClient } from './redisClient.js'
import type { RedisSentinel } from './redisSentinel.js'
import { sentinelSettings, type ServerAddress } from './sentinelSettings.js'
import type { WayToServer } from './serverLocator.js'
import { socketOf } from './socketOf.js'

/** How often in a row there may be no primary before the Sentinel client is made to look for it. */
const PATIENCE = 16

interface Found {
  readonly primary: ServerAddress
  readonly template: RedisClient
}

/**
 * The primary that Sentinels name.
 *
 * First as the client knows it; in case of doubt they are asked anew, once for all connections that look for it. The client
 * looks again when a Sentinel tells of a change, but it takes a primary for none that the Sentinel has no connection to yet,
 * as in the first second after a fail-over, and then it looks but once a second. What it has heard counts where nobody
 * else answers, and where it is the news.
 */
export const sentinelPrimary = (sentinel: RedisSentinel): WayToServer => {
  const listeners = new Set<() => void>()
  let credentials: Promise<RedisClient> | undefined
  let known: { readonly found: Promise<Found>; current?: Found } | undefined
  let hasHeard = true
  const settings = sentinelSettings(sentinel)
  let misses = 0

  const onTopology = (change: unknown): void => {
    const { type, node } = change as { type?: string; node?: ServerAddress }
    if (type !== 'MASTER_CHANGE') return
    const primary = known?.current?.primary
    // It was found before the client heard of it.
    if (primary && primary.host === node?.host && primary.port === node.port) return
    hasHeard = true
    known = undefined
    // Who is told begins anew, and listens again: that one has been told.
    for (const listener of [...listeners]) listener()
  }

  const heardOf = (): ServerAddress => {
    const primary = sentinel.getMasterNode()
    if (primary === undefined) {
      // To send a command over it makes it ask the Sentinels without a pause for as long as they do not know either.
      if (++misses % PATIENCE === 0) credentials = undefined
      throw new Error('the Sentinel client knows of no primary at the moment')
    }
    misses = 0
    return { host: primary.host, port: primary.port }
  }

  const locate = async (like: RedisClient): Promise<ServerAddress> => {
    if (settings && !hasHeard) {
      try {
        return await askSentinels(settings, like)
      } catch {
        // Those that are known from the beginning are away. The client may have heard of others.
      }
    }
    const primary = heardOf()
    hasHeard = false
    return primary
  }

  const find = async (): Promise<Found> => {
    credentials ??= sentinel._execute(false, (client) => Promise.resolve(client.duplicate()))
    let like: RedisClient
    try {
      like = await credentials
    } catch (error) {
      credentials = undefined
      throw error
    }
    const primary = await locate(like)
    return { primary, template: like.duplicate({ socket: { ...socketOf(like), ...primary } }) }
  }

  return {
    template: async () => {
      const asked = (known ??= { found: find() })
      try {
        asked.current = await asked.found
        return asked.current.template
      } catch (error) {
        if (known === asked) known = undefined
        throw error
      }
    },
    doubt: (template) => {
      if (known?.current?.template === template) known = undefined
    },
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
