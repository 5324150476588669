import { onTestFinished } from 'vitest'

import { connectClient } from './redis.js'
import { type OnFinished, type RedisServer, serverOfTest } from './redisServer.js'
import { until } from './until.js'

/** A primary with one replica, and a Sentinel that watches over them. */
export interface SentinelSetup {
  readonly name: string
  readonly primary: RedisServer
  readonly replica: RedisServer
  readonly sentinel: RedisServer
}

/**
 * Starts them for a test, and waits until the Sentinel knows the replica. It gives a silent primary a second and a half: a new
 * one is asked for a sign of life for the first time after a second, so with less it is taken for dead, and replaced in turn.
 */
export const startSentinel = async (onFinished: OnFinished = onTestFinished): Promise<SentinelSetup> => {
  const name = 'main'
  const primary = await serverOfTest({ args: ['--repl-diskless-sync-delay', '0'] }, onFinished)
  const replica = await serverOfTest({ args: ['--replicaof', `${primary.host} ${primary.port}`] }, onFinished)
  const replicaClient = await connectClient({ url: replica.url, onFinished })
  await until(async () => (await replicaClient.info('replication')).includes('master_link_status:up'), {
    timeoutMs: 15_000,
    description: 'the replica is in step',
  })
  const sentinel = await serverOfTest(
    {
      sentinel: [
        `sentinel monitor ${name} ${primary.host} ${primary.port} 1`,
        `sentinel down-after-milliseconds ${name} 1500`,
        `sentinel failover-timeout ${name} 2000`,
      ],
    },
    onFinished,
  )
  const client = await connectClient({ url: sentinel.url, onFinished })
  await until(
    async () => {
      const replicas = await client.sendCommand<unknown[]>(['SENTINEL', 'REPLICAS', name])
      return JSON.stringify(replicas).includes('"ok"')
    },
    { timeoutMs: 15_000, description: 'the Sentinel has seen the replica well' },
  )
  return { name, primary, replica, sentinel }
}
