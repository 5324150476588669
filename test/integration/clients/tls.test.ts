import { expect, it } from 'vitest'

import { exercise, exercises } from '../../support/exercise.js'
import { connectClient, uniquePrefix } from '../../support/redis.js'
import { serviceOn } from '../../support/service.js'
import { startTlsServer } from '../../support/startTlsServer.js'

it('speaks TLS where the client does, with the authority that the client trusts', async () => {
  const { server, tlsPort, url, ca } = await startTlsServer()
  await expect(connectClient({ url, socket: { tls: true, reconnectStrategy: false } })).rejects.toThrow(/self-signed/)

  const client = await connectClient({ url, socket: { tls: true, ca } })
  const service = serviceOn(client, uniquePrefix('tls'))
  service.work(exercises)
  await exercise(service)
  const connections = (await client.sendCommand<string>(['CLIENT', 'LIST'])).split('\n')
  const ours = connections.filter((line) => line.includes(' name=test:'))
  expect(ours).toHaveLength(2)
  for (const line of ours) expect(line).toContain(` laddr=${server.host}:${tlsPort} `)
})
