import { createClientPool, createCluster, createSentinel } from 'redis'
import {
  createClientPool as createClientPool5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis-v5'
import { onTestFinished } from 'vitest'

import type { Credentials } from './createMinimalUser.js'
import { defaultMajor, redisUrl } from './redis.js'
import type { OnFinished } from './redisServer.js'
import type { ClusterSetup } from './startCluster.js'
import type { SentinelSetup } from './startSentinel.js'

/** When to close a client. By default with its test. */
interface Ending {
  readonly onFinished?: OnFinished
}

/** A pool on the Redis of this run, of one client, so that whoever keeps it shows. */
export const connectPool = async ({ onFinished = onTestFinished }: Ending = {}) => {
  const create = defaultMajor() === 5 ? (createClientPool5 as unknown as typeof createClientPool) : createClientPool
  const pool = create({ url: redisUrl() }, { maximum: 1 })
  await pool.connect()
  onFinished(() => pool.close())
  return pool
}

/** A client of a Sentinel. */
export const connectSentinel = async (
  { name, sentinel }: SentinelSetup,
  { onFinished = onTestFinished }: Ending = {},
) => {
  const options = { name, sentinelRootNodes: [{ host: sentinel.host, port: sentinel.port }] }
  const client = defaultMajor() === 5 ? createSentinel5(options) : createSentinel(options)
  client.on('error', () => undefined)
  await client.connect()
  onFinished(() => client.destroy())
  return client
}

/** A client of a cluster. */
export const connectCluster = async (
  { primaries }: ClusterSetup,
  { onFinished = onTestFinished, credentials }: Ending & { readonly credentials?: Credentials } = {},
) => {
  const options = { rootNodes: primaries.map(({ url }) => ({ url })), ...(credentials && { defaults: credentials }) }
  const client = defaultMajor() === 5 ? createCluster5(options) : createCluster(options)
  client.on('error', () => undefined)
  await client.connect()
  onFinished(() => client.destroy())
  return client
}
