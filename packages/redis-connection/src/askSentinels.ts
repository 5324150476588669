import { destroyClient } from './destroyClient.js'
import type { RedisClient } from './redisClient.js'
import type { SentinelSettings, ServerAddress } from './sentinelSettings.js'

/**
 * Asks the Sentinels for the primary, all at once, over connections that live only as long as that takes. The first answer
 * counts; so one that is away with the primary, and cannot even refuse, holds nothing up.
 *
 * Rejects if none of them answers with a server.
 *
 * @param like a client for servers; of it and the settings those for Sentinels are made
 *
 * @example
 * import { createSentinel } from 'redis'
 * const sentinel = createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'sentinel-1', port: 26379 }] })
 * const settings = sentinelSettings(sentinel)
 * if (settings) console.log((await askSentinels(settings, client)).port)
 */
export const askSentinels = async (settings: SentinelSettings, like: RedisClient): Promise<ServerAddress> => {
  const { name, sentinelRootNodes, sentinelClientOptions, nodeAddressMap } = settings
  const over = new AbortController()

  const reach = (address: ServerAddress): ServerAddress => {
    const text = `${address.host}:${String(address.port)}`
    return (typeof nodeAddressMap === 'function' ? nodeAddressMap(text) : nodeAddressMap?.[text]) ?? address
  }

  const ask = async (node: ServerAddress): Promise<ServerAddress> => {
    const { host, port } = reach(node)
    const sentinel = like.duplicate({
      ...NOTHING_OF_A_SERVER,
      ...sentinelClientOptions,
      disableOfflineQueue: true,
      socket: { ...sentinelClientOptions?.socket, host, port, reconnectStrategy: false, signal: over.signal },
    })
    sentinel.on('error', () => undefined) // told by the rejection of what is awaited here
    try {
      await sentinel.connect()
      const reply = await sentinel.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
      if (!Array.isArray(reply)) throw new Error(`the Sentinel knows of no "${name}"`)
      return reach({ host: String(reply[0]), port: Number(reply[1]) })
    } finally {
      destroyClient(sentinel)
    }
  }

  try {
    return await Promise.any(sentinelRootNodes.map(ask))
  } finally {
    over.abort()
  }
}

/** What is true of a server, and would be wrong with a Sentinel. */
const NOTHING_OF_A_SERVER = {
  url: undefined,
  username: undefined,
  password: undefined,
  credentialsProvider: undefined,
  database: undefined,
  name: undefined,
  pingInterval: undefined,
  clientSideCache: undefined,
  emitInvalidate: undefined,
}
