import { afterAll, beforeAll, onTestFinished } from 'vitest'

import { connectClient, type TestClient } from '../../../../test/support/redis.js'
import { type RedisServer, type RedisServerOptions, startRedisServer } from '../../../../test/support/redisServer.js'
import { startTcpProxy, type TcpProxy } from '../../../../test/support/tcpProxy.js'

/** A server of one's own, a client for looking and changing things there, and a stretch of network in front of it. */
export interface OwnRedis {
  readonly server: RedisServer
  readonly admin: TestClient
  readonly proxy: TcpProxy
}

/** For tests that end the server or change how it works. All of it ends with the test. */
export const ownRedis = async (options: RedisServerOptions = {}): Promise<OwnRedis> => {
  const server = await startRedisServer(options)
  onTestFinished(() => server.stop())
  return disturb(server)
}

/** One server for the tests of a file, empty at the start of each; what the answer starts ends with the test. */
export const sharedRedis = (): (() => Promise<OwnRedis>) => {
  let server: RedisServer | undefined
  beforeAll(async () => {
    server = await startRedisServer()
  })
  afterAll(() => server?.stop())
  return async () => {
    if (server === undefined) throw new Error('Only to be called within a test')
    const redis = await disturb(server)
    await redis.admin.flushAll()
    await redis.admin.configResetStat()
    return redis
  }
}

const disturb = async (server: RedisServer): Promise<OwnRedis> => {
  const proxy = await startTcpProxy({ targetPort: server.port })
  onTestFinished(() => proxy.stop())
  return { server, admin: await connectClient({ url: server.url }), proxy }
}
