import { onTestFinished } from 'vitest'

import { type RedisServer, type RedisServerOptions, startRedisServer } from '../../scripts/startRedisServer.js'

export { startRedisServer, type RedisServer, type RedisServerOptions }

/** Takes what is to be done at the end: of the test, or of all tests of a file. */
export type OnFinished = (end: () => void | Promise<void>) => void

/** A server that ends with its test, after whatever was started later and is ended by the test. */
export const serverOfTest = async (
  options?: RedisServerOptions,
  onFinished: OnFinished = onTestFinished,
): Promise<RedisServer> => {
  const server = await startRedisServer(options)
  onFinished(server.stop)
  return server
}
