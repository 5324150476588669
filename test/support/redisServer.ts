import { onTestFinished } from 'vitest'

import { type RedisServer, type RedisServerOptions, startRedisServer } from '../../scripts/startRedisServer.js'

export { startRedisServer, type RedisServer, type RedisServerOptions }

/** A server that ends with its test, after whatever was started later and is ended by the test. */
export const serverOfTest = async (options?: RedisServerOptions): Promise<RedisServer> => {
  const server = await startRedisServer(options)
  onTestFinished(server.stop)
  return server
}
