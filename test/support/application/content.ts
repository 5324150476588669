import { createCipheriv, createHash } from 'node:crypto'
import { Readable } from 'node:stream'

const CHUNK = 65_536

/** What a blob holds: as good as random, the same for the same seed. A chunk is put off until `gate` lets it go. */
export const contentOf = (seed: number, bytes: number, gate?: (from: number) => Promise<void>): Readable => {
  const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32, seed), Buffer.alloc(16))
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for (let from = 0; from < bytes; from += CHUNK) {
      await gate?.(from)
      yield cipher.update(Buffer.alloc(Math.min(CHUNK, bytes - from)))
    }
  }
  return Readable.from(chunks(), { objectMode: false })
}

/** How many bytes there are, and their digest: what tells one content from another. */
export interface Fingerprint {
  readonly bytes: number
  readonly sha256: string
}

/** Reads a stream to its end. */
export const fingerprintOf = async (stream: AsyncIterable<Uint8Array> | null): Promise<Fingerprint> => {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of stream ?? []) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}
