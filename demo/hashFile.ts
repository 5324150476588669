import { type AnyTaskHandlerDescriptor, defineTaskHandler, type TaskContext } from '@furystack/task-runner'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { HANDLER_VERSION, LANE_TYPES, MAX_ATTEMPTS, VISIBILITY_TIMEOUT_MS } from './settings.js'

/** What a task is given. */
export interface HashFilePayload {
  readonly folder: string
  readonly path: string
  /** By how much to take longer than necessary. A real handler has nothing of the kind. */
  readonly slowdownMs: number
}

/** What a task returns. */
export interface HashFileResult {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly gzipBytes: number
}

/**
 * Reads a file once, and computes its SHA-256 and what gzip makes of it on the way. It holds one chunk at a time in
 * memory, however large the file is; it stops when its signal fires; and running it twice does no harm, as a handler
 * has to expect: a worker that dies after the work, but before it could say so, leaves a task that runs again.
 */
export const hashFile = async (
  { cancellationSignal, reportProgress, sleep }: TaskContext<HashFilePayload>,
  { folder, path, slowdownMs }: HashFilePayload,
): Promise<HashFileResult> => {
  const file = join(folder, path)
  const { size } = await stat(file)
  const hash = createHash('sha256')
  let bytes = 0
  let gzipBytes = 0

  await pipeline(
    createReadStream(file, { highWaterMark: chunkSize(size, slowdownMs) }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        bytes += chunk.length
        yield chunk
        // A file may have grown, and some pretend to be empty.
        const total = Math.max(size, bytes)
        if (slowdownMs > 0) await sleep((slowdownMs * chunk.length) / total)
        reportProgress({ percent: Math.round((100 * bytes) / total) })
      }
    },
    createGzip(),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) gzipBytes += chunk.length
    },
    { signal: cancellationSignal },
  )
  return { path, bytes, sha256: hash.digest('hex'), gzipBytes }
}

const CHUNK = 64 * 1024

/** A file that is read slowly is read in several pieces, so that there is progress to be seen. */
const chunkSize = (size: number, slowdownMs: number): number =>
  slowdownMs === 0 || size === 0 ? CHUNK : Math.min(CHUNK, Math.max(1, Math.ceil(size / 8)))

/** One handler for each type; the types differ in how many of them may run at once. */
export const hashHandlers: AnyTaskHandlerDescriptor[] = LANE_TYPES.map((type) =>
  defineTaskHandler({
    type,
    version: HANDLER_VERSION,
    handler: hashFile,
    // How soon others take over when the process dies; meanwhile it sends a heartbeat three times as often. The default
    // is a minute, which suits most services better.
    visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS,
    // A file that cannot be read now may be readable a moment later.
    retryPolicy: { maxAttempts: MAX_ATTEMPTS, backoff: 'exponential', baseDelayMs: 200, jitter: 0.2 },
    // Reports in between are dropped; twenty a second are more than one can see.
    progressThrottleMs: 50,
  }),
)
