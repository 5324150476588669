import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { onTestFinished } from 'vitest'

import { freePort } from './freePort.js'
import { type OnFinished, type RedisServer, serverOfTest } from './redisServer.js'

/** A server that speaks TLS on a second port, with a certificate that signs itself. */
export interface TlsServer {
  readonly server: RedisServer
  readonly tlsPort: number
  /** Of the TLS port. */
  readonly url: string
  /** What a client has to trust. */
  readonly ca: Buffer
}

/** Starts one that ends with the test. */
export const startTlsServer = async (onFinished: OnFinished = onTestFinished): Promise<TlsServer> => {
  const { key, certificate } = await makeCertificate(onFinished)
  const tlsPort = await freePort()
  const server = await serverOfTest(
    {
      args: [
        ...['--tls-port', String(tlsPort), '--tls-cert-file', certificate, '--tls-key-file', key],
        ...['--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no'],
      ],
    },
    onFinished,
  )
  return { server, tlsPort, url: `rediss://${server.host}:${tlsPort}`, ca: await readFile(certificate) }
}

/** A certificate for the loopback address that signs itself. */
const makeCertificate = async (onFinished: OnFinished): Promise<{ key: string; certificate: string }> => {
  const directory = await mkdtemp(join(tmpdir(), 'redis-tls-'))
  onFinished(() => rm(directory, { recursive: true, force: true }))
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')]
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-keyout', key, '-out', certificate, '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
  ])
  return { key, certificate }
}
