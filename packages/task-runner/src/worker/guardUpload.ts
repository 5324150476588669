import { PassThrough, pipeline, Readable } from 'node:stream'

import type { BlobPutInput } from '@furystack/blob-store'

/** A payload whose failure harms nobody. */
export interface GuardedUpload {
  readonly payload: BlobPutInput
  /** Rejects with what the source fails with; never settles otherwise. */
  readonly failed: Promise<never>
}

/**
 * Takes the failure of a stream upon itself. Stores that hand a stream on to an HTTP client may listen to none of its
 * errors: one in the midst of an upload would end the process, and the call would never be settled. So whoever iterates
 * over the stream, as such a store does, sees it stand still there: it must not take it for the end, and the server gives
 * up by itself. Whoever listens to its events is told of the error as ever.
 */
export const guardUpload = (payload: BlobPutInput): GuardedUpload => {
  if (payload instanceof Uint8Array) return { payload, failed: new Promise(() => undefined) }
  const source = 'getReader' in payload ? Readable.fromWeb(payload) : payload
  const guarded = new GuardedStream()
  const failed = new Promise<never>((_, reject) => {
    guarded.on('error', reject)
    pipeline(source, guarded, (error) => {
      if (error) reject(error)
    })
  })
  // Whoever has given up the upload does not wait for it any more.
  failed.catch(() => undefined)
  return { payload: guarded, failed }
}

class GuardedStream extends PassThrough {
  override [Symbol.asyncIterator](): NodeJS.AsyncIterator<Buffer> {
    return this.#iterate(super[Symbol.asyncIterator]() as AsyncIterable<Buffer>)
  }

  async *#iterate(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
    try {
      yield* chunks
    } catch {
      await new Promise(() => undefined)
    }
    return undefined
  }
}
