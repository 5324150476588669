import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, it, onTestFinished } from 'vitest'

import { exercise, exercises } from '../../support/exercise.js'
import { freePort } from '../../support/freePort.js'
import { connectClient, uniquePrefix } from '../../support/redis.js'
import { serverOfTest } from '../../support/redisServer.js'
import { serviceOn } from '../../support/service.js'

/** A certificate for the loopback address that signs itself. */
const makeCertificate = async (): Promise<{ key: string; certificate: string }> => {
  const directory = await mkdtemp(join(tmpdir(), 'redis-tls-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')]
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-keyout', key, '-out', certificate, '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
  ])
  return { key, certificate }
}

it('speaks TLS where the client does, with the authority that the client trusts', async () => {
  const { key, certificate } = await makeCertificate()
  const tlsPort = await freePort()
  const server = await serverOfTest({
    args: [
      ...['--tls-port', String(tlsPort), '--tls-cert-file', certificate, '--tls-key-file', key],
      ...['--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no'],
    ],
  })
  const url = `rediss://${server.host}:${tlsPort}`
  await expect(connectClient({ url, socket: { tls: true, reconnectStrategy: false } })).rejects.toThrow(/self-signed/)

  const client = await connectClient({ url, socket: { tls: true, ca: await readFile(certificate) } })
  const service = serviceOn(client, uniquePrefix('tls'))
  service.work(exercises)
  await exercise(service)
  const connections = (await client.sendCommand<string>(['CLIENT', 'LIST'])).split('\n')
  const ours = connections.filter((line) => line.includes(' name=test:'))
  expect(ours).toHaveLength(2)
  for (const line of ours) expect(line).toContain(` laddr=${server.host}:${tlsPort} `)
})
