import { randomUUID } from 'node:crypto'

import type { RedisServer } from '../../support/redisServer.js'
import { startSentinel } from '../../support/startSentinel.js'
import { until } from '../../support/until.js'
import { failoverFaults } from '../faults/failoverFaults.js'
import { type AdminClient, adminClient } from './adminClient.js'
import type { Backend } from './backend.js'
import { ending } from './ending.js'

/** A primary, its replica, and a Sentinel that makes the one the other. */
export const sentinelBackend = async (): Promise<Backend> => {
  const { atEnd, end } = ending()
  try {
    const { name, primary, replica, sentinel } = await startSentinel(atEnd)
    const prefix = `chaos-${randomUUID().slice(0, 8)}/`
    const servers = [primary, replica] as const
    const clients = new Map<RedisServer, AdminClient>()
    for (const server of servers) clients.set(server, await adminClient(server.url, atEnd))
    const asking = await adminClient(sentinel.url, atEnd)

    const present = async (): Promise<RedisServer> => {
      const [, port] = await asking.sendCommand<string[]>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
      return servers.find((server) => server.port === Number(port)) ?? primary
    }
    const clientOf = (server: RedisServer): AdminClient => clients.get(server) as AdminClient
    const knowsReplica = async (): Promise<boolean> =>
      JSON.stringify(await asking.sendCommand(['SENTINEL', 'REPLICAS', name])).includes('"ok"')

    return {
      kind: 'sentinel',
      prefix,
      wayOf: () => Promise.resolve({ kind: 'sentinel', name, host: sentinel.host, port: sentinel.port }),
      admin: async () => clientOf(await present()),
      faults: failoverFaults({
        present,
        clientOf,
        // One that has just been the cause of the next is not over for the Sentinel yet.
        failOver: () =>
          until(() => asking.sendCommand(['SENTINEL', 'FAILOVER', name]).then(() => true), {
            timeoutMs: 20_000,
            intervalMs: 100,
            description: 'the Sentinel fails over',
          }),
        // The replica of a moment ago serves, and the other one follows it: then it may happen again.
        join: async (former, latter) => {
          await until(
            async () => {
              await clientOf(former).sendCommand(['REPLICAOF', latter.host, String(latter.port)])
              return (await clientOf(former).info('replication')).includes('master_link_status:up')
            },
            { timeoutMs: 20_000, intervalMs: 250, description: 'the former primary follows' },
          )
          await until(knowsReplica, { timeoutMs: 20_000, intervalMs: 250, description: 'the Sentinel knows it' })
        },
      }),
      [Symbol.asyncDispose]: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}
