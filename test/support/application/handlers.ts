import { Readable } from 'node:stream'

import type { BlobRef } from '@furystack/blob-store'
import { defineTaskHandler, type TaskContext } from '@furystack/task-runner'

import { contentOf, type Fingerprint, fingerprintOf } from './content.js'

/** What a worker's process and the test have to say to each other. */
export interface Line {
  readonly start: (taskId: string, type: string) => void
  /** Resolves when the test lets the task go on. */
  readonly goOn: (taskId: string, signal: AbortSignal) => Promise<void>
}

/** Blobs go when the task is over; its row stays to be looked at. */
const GOES_AT_ONCE = {
  onSuccess: 'delete-all',
  onFailure: 'delete-all',
  ttlAfterTerminalDays: 0,
  keepRowDays: 1,
} as const

/** The handlers of the application, for every service the same. `process` tells who has run a task. */
export const handlersOf = (service: string, { start, goOn }: Line) => {
  const define = <P, R>(type: string, handler: (ctx: TaskContext<P>, payload: P) => Promise<R>) =>
    defineTaskHandler<P, R & { service: string; pid: number }>({
      type,
      version: 1,
      retentionPolicy: GOES_AT_ONCE,
      handler: async (ctx, payload) => {
        start(ctx.taskId, type)
        return { ...(await handler(ctx, payload)), service, pid: process.pid }
      },
    })

  return [
    define('write', async (ctx, { seed, bytes }: { seed: number; bytes: number }) => {
      const contentType = 'application/octet-stream'
      const { key } = ctx.allocateBlob('content.bin', { contentType })
      const ref = await ctx.blobStore.put(key, contentOf(seed, bytes), { contentType, contentLength: bytes })
      return { ref }
    }),

    define('read', async (ctx, ref: BlobRef): Promise<{ read: Fingerprint; fetched: Fingerprint }> => {
      await ctx.consumeBlob(ref)
      const { stream } = await ctx.blobStore.get(ref.key)
      const url = await ctx.blobStore.getDownloadUrl(ref.key, { ttlSec: 60 })
      return {
        read: await fingerprintOf(Readable.fromWeb(stream as never)),
        fetched: await fingerprintOf((await fetch(url)).body),
      }
    }),

    define('invite', async (ctx) => {
      const contentType = 'text/plain'
      const ref = ctx.allocateBlob('upload.txt', { contentType })
      return { ref, upload: await ctx.blobStore.getUploadUrl(ref.key, { ttlSec: 60, contentType }) }
    }),

    define('hold', async (ctx) => {
      await goOn(ctx.taskId, ctx.cancellationSignal)
      return {}
    }),

    // Reads from something that breaks in the midst of its upload.
    define('break', async (ctx, { bytes }: { bytes: number }) => {
      const gate = (from: number): Promise<void> =>
        from < bytes / 2 ? Promise.resolve() : Promise.reject(new Error('the source is gone'))
      const { key } = ctx.allocateBlob('content.bin')
      const ref = await ctx.blobStore.put(key, contentOf(1, bytes, gate), { contentLength: bytes })
      return { ref }
    }),

    // Stands in the midst of its upload, in its first run.
    define('stall', async (ctx, { seed, bytes }: { seed: number; bytes: number }) => {
      const { key } = ctx.allocateBlob('content.bin')
      const gate = async (from: number): Promise<void> => {
        if (ctx.attempt === 1 && from > 0) await goOn(ctx.taskId, ctx.cancellationSignal)
      }
      const ref = await ctx.blobStore.put(key, contentOf(seed, bytes, gate), { contentLength: bytes })
      return { ref, attempt: ctx.attempt }
    }),
  ]
}
