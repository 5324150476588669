import { randomUUID } from 'node:crypto'

import { serverOfTest } from '../../support/redisServer.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { proxyFaults } from '../faults/proxyFaults.js'
import { serverFaults } from '../faults/serverFaults.js'
import { type AdminClient, adminClient } from './adminClient.js'
import type { Backend } from './backend.js'
import { ending } from './ending.js'

/** One server that keeps what it has said, and a stretch of network of its own for each process. */
export const singleBackend = async (): Promise<Backend> => {
  const { atEnd, end } = ending()
  const server = await serverOfTest({ persistent: true, args: ['--maxmemory-policy', 'noeviction'] }, atEnd)
  const proxies = new Map<string, TcpProxy>()
  const prefix = `chaos-${randomUUID().slice(0, 8)}/`
  let client: Promise<AdminClient> | undefined

  const proxyOf = (process: string): TcpProxy => {
    const proxy = proxies.get(process)
    if (!proxy) throw new Error(`${process} has not been shown its way`)
    return proxy
  }
  const admin = (): Promise<AdminClient> => (client ??= adminClient(server.url, atEnd))

  return {
    kind: 'single',
    prefix,
    wayOf: async (process) => {
      const known = proxies.get(process)
      const proxy = known ?? (await startTcpProxy({ targetPort: server.port }))
      proxies.set(process, proxy)
      if (!known) atEnd(proxy.stop)
      return { kind: 'single', url: proxy.url }
    },
    admin,
    faults: [...proxyFaults(proxyOf), ...serverFaults({ server, admin, prefix })],
    [Symbol.asyncDispose]: end,
  }
}
