/**
 * A whole application: tasks in Redis, updates over Redis, blobs in S3, deleted when their time is over, and everything
 * closed at the end.
 *
 *     npx tsx scripts/withRedis.ts -- npx tsx examples/04-full-application.ts
 *
 * Redis is at REDIS_URL. S3 is where the environment says (AWS_REGION, credentials, a bucket "svc-a-blobs"); if that says
 * nothing, the example starts one of its own.
 */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

import { S3Client } from '@aws-sdk/client-s3'
import { type BlobRef, BlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineRedisTaskRunner } from '@furystack/redis-task-runner'
import { defineS3BlobStore } from '@furystack/s3-blob-store'
import { defineTaskBlobSweeper, defineTaskHandler, defineWorker, TaskRunner } from '@furystack/task-runner'
import { createClient } from 'redis'

import { needs } from './support/needs.js'
import { startS3 } from './support/startS3.js'

const MIB = 1024 * 1024
/** Nothing of the content is kept: its time is over with the task. The row stays for a day, to be looked at. */
const GOES_AT_ONCE = {
  onSuccess: 'delete-all',
  onFailure: 'delete-all',
  ttlAfterTerminalDays: 0,
  keepRowDays: 1,
} as const

const sha256 = async (content: AsyncIterable<Uint8Array> | null): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of content ?? []) hash.update(chunk)
  return hash.digest('hex')
}

function* numbers(bytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes; at += MIB) {
    const chunk = Buffer.alloc(Math.min(MIB, bytes - at))
    for (let i = 0; i < chunk.length; i += 1024) chunk.writeUInt8((at + i) % 251, i)
    yield chunk
  }
}

// Writes a blob of its task. The task knows of it before it exists, so that it is deleted whatever happens.
const produce = defineTaskHandler({
  type: 'produce',
  version: 1,
  retentionPolicy: GOES_AT_ONCE,
  handler: async (ctx, { bytes }: { bytes: number }) => {
    const { key } = ctx.allocateBlob('content.bin', { contentType: 'application/octet-stream' })
    return ctx.blobStore.put(key, Readable.from(numbers(bytes)), { contentLength: bytes })
  },
})

// Reads a blob that it is given, which nobody deletes meanwhile.
const digest = defineTaskHandler({
  type: 'digest',
  version: 1,
  retentionPolicy: GOES_AT_ONCE,
  handler: async (ctx, blob: BlobRef) => {
    await ctx.consumeBlob(blob)
    const { stream } = await ctx.blobStore.get(blob.key)
    return { sha256: await sha256(Readable.fromWeb(stream as never)) }
  },
})

// Makes room for somebody else's upload.
const invite = defineTaskHandler({
  type: 'invite',
  version: 1,
  retentionPolicy: GOES_AT_ONCE,
  handler: async (ctx, { contentType }: { contentType: string }) => {
    const ref = ctx.allocateBlob('upload', { contentType })
    return { ref, upload: await ctx.blobStore.getUploadUrl(ref.key, { ttlSec: 60, contentType }) }
  },
})

const BlobWorker = defineWorker({ name: 'blob-worker', types: [produce, digest, invite], concurrency: 4 })
const BlobSweeper = defineTaskBlobSweeper({ scanIntervalMs: Infinity })

await using s3 = process.env.AWS_REGION === undefined ? await startS3(['svc-a-blobs']) : undefined
Object.assign(process.env, s3?.env)
needs(process.env, 'REDIS_URL', 'AWS_REGION')

const client = createClient({ url: process.env.REDIS_URL })
await client.connect()
const s3Client = new S3Client({ region: process.env.AWS_REGION })
await using injector = createInjector()
injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: 'svc-a' }))
injector.bind(BlobStore, defineS3BlobStore({ client: s3Client, bucket: 'svc-a-blobs' }))
injector.bind(
  TaskRunner,
  defineRedisTaskRunner({ client, serviceName: 'svc-a', topicPrefix: 'svc-a/', visibilityTimeoutMs: 60_000 }),
)
const runner = injector.get(TaskRunner)
injector.get(BlobWorker)

const run = async <R>(type: string, payload: unknown, consumedBlobs: BlobRef[] = []): Promise<R> => {
  const task = await runner.submit({ type, handlerVersion: 1, payload, consumedBlobs })
  return runner.waitFor<R>(task.id, { timeoutMs: 120_000 })
}

const keys: string[] = []
for (const bytes of [0, 5 * MIB, 100 * MIB]) {
  const ref = await run<BlobRef>('produce', { bytes })
  keys.push(ref.key)
  const { sha256: stored } = await run<{ sha256: string }>('digest', ref, [ref])
  // What a browser would be given: a URL that is good for a minute.
  const url = await injector.get(BlobStore).getDownloadUrl(ref.key, { ttlSec: 60 })
  const downloaded = await sha256((await fetch(url)).body)
  const written = await sha256(Readable.from(numbers(bytes)))
  if (stored !== written || downloaded !== written) throw new Error(`${ref.key} is not what was written`)
  console.log(`${String(bytes).padStart(9)} bytes in ${ref.key}, read by a task and by fetch`)
}

const { ref, upload } = await run<{ ref: BlobRef; upload: { url: string; method: string } }>('invite', {
  contentType: 'text/plain',
})
keys.push(ref.key)
const { ok } = await fetch(upload.url, {
  method: upload.method,
  headers: { 'content-type': 'text/plain' },
  body: 'from a browser',
})
const { sha256: uploaded } = await run<{ sha256: string }>('digest', ref, [ref])
const sent = createHash('sha256').update('from a browser').digest('hex')
if (!ok || uploaded !== sent) throw new Error(`${ref.key} is not what was uploaded`)
console.log(`${ref.key} was uploaded by fetch`)

// Runners do this once a minute by themselves.
const { deletedBlobCount } = await injector.get(BlobSweeper).runOnce()
for (const key of keys) {
  if (await injector.get(BlobStore).head(key)) throw new Error(`${key} is still there`)
}
console.log(`${String(deletedBlobCount)} blobs deleted, none left`)

// shutdown
await injector[Symbol.asyncDispose]()
await client.quit()
