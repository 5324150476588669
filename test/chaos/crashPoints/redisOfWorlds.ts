import type { Connection } from '../../../src/connection/connection.js'
import { connectTo } from '../../support/connectTo.js'
import { connectClient, type TestClient } from '../../support/redis.js'
import { startRedisServer } from '../../support/redisServer.js'
import { type Origin, startOrigin } from './origin.js'

/** What worlds on one Redis share. */
export interface RedisOfWorlds extends AsyncDisposable {
  readonly url: string
  readonly client: TestClient
  /** Leads past all links. */
  readonly connection: Connection
  readonly origin: Origin
}

/** Starts a server for worlds of their own prefixes. */
export const startRedisOfWorlds = async (): Promise<RedisOfWorlds> => {
  const { url, stop } = await startRedisServer()
  const closers: Array<() => void> = []
  const client = await connectClient({ url, onFinished: (close) => closers.push(close) })
  const connection = connectTo(client)
  const origin = await startOrigin()
  return {
    url,
    client,
    connection,
    origin,
    [Symbol.asyncDispose]: async () => {
      await origin[Symbol.asyncDispose]()
      await connection[Symbol.asyncDispose]()
      for (const close of closers) close()
      await stop()
    },
  }
}
