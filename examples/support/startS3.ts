import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import S3rver from '@20minutes/s3rver'

/** An S3 of one's own, which is gone with its blobs when it is disposed. */
export interface S3Server extends AsyncDisposable {
  /** What tells the AWS SDK where it is and how to sign in; no code of the application has to know. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Starts an S3 on a free port of this machine, with empty buckets.
 *
 * It keeps what the AWS SDK frames the chunks of a streamed upload with as if it belonged to the content, so the SDK has to
 * do without: `AWS_REQUEST_CHECKSUM_CALCULATION`, or `requestChecksumCalculation` of the client, is `WHEN_REQUIRED`. The same
 * setting makes upload URLs that others can use, and streams of unknown length, work with S3 itself.
 */
export const startS3 = async (buckets: readonly string[]): Promise<S3Server> => {
  const directory = await mkdtemp(join(tmpdir(), 's3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    directory,
    silent: true,
    configureBuckets: buckets.map((name) => ({ name, configs: [] })),
  })
  const { port } = await server.run()
  // A server that closes idle connections may do so while a request is on its way, and the SDK sends no stream twice.
  server.httpServer.keepAliveTimeout = 0
  return {
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${String(port)}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_REQUEST_CHECKSUM_CALCULATION: 'WHEN_REQUIRED',
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
