import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { answerS3 } from './answerS3.js'
import { S3Objects } from './s3Objects.js'

/** An S3 of one's own, which is gone with its blobs when it is disposed. */
export interface S3Server extends AsyncDisposable {
  /** What tells the AWS SDK where it is and how to sign in; no code of the application has to know. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Starts an S3 on a free port of this machine, with empty buckets: as much of it as blob stores ask for. It answers requests
 * and URLs that were signed with its secret.
 *
 * The SDK is told to add checksums only where they are required: so it does with S3 itself for upload URLs that others can
 * use, and for streams of unknown length.
 */
export const startS3 = async (buckets: readonly string[]): Promise<S3Server> => {
  const directory = await mkdtemp(join(tmpdir(), 's3-'))
  const objects = new Map(buckets.map((bucket) => [bucket, new S3Objects(directory)]))
  const credentials = { accessKeyId: 'example', secretAccessKey: randomUUID() }
  const server = createServer((request, response) => {
    void answerS3(objects, credentials, request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${String(port)}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_REQUEST_CHECKSUM_CALCULATION: 'WHEN_REQUIRED',
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await rm(directory, { recursive: true, force: true })
    },
  }
}
