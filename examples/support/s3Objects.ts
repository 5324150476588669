import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** What is known of an object. */
export interface S3Object {
  readonly key: string
  readonly file: string
  readonly size: number
  /** In quotation marks, as S3 writes it. */
  readonly etag: string
  readonly lastModified: Date
  /** The type of the content, and whatever was said about it besides. */
  readonly headers: Readonly<Record<string, string>>
}

/** The objects of a bucket, in files. */
export class S3Objects {
  readonly #directory: string
  readonly #objects = new Map<string, S3Object>()

  constructor(directory: string) {
    this.#directory = directory
  }

  get(key: string): S3Object | undefined {
    return this.#objects.get(key)
  }

  /** Objects whose keys begin with a prefix and come after another one, in their order. */
  list(prefix: string, after: string): S3Object[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    return keys.flatMap((key) => this.#objects.get(key) ?? [])
  }

  /** Replaces an object once all of it has come; one that breaks off changes nothing. */
  async put(key: string, content: Readable, headers: S3Object['headers']): Promise<S3Object> {
    const file = join(this.#directory, randomUUID())
    const hash = createHash('md5')
    let size = 0
    try {
      await pipeline(
        content,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk)
            size += chunk.length
            yield chunk
          }
        },
        createWriteStream(file),
      )
    } catch (error) {
      await rm(file, { force: true })
      throw error
    }
    await this.delete(key)
    const object = { key, file, size, etag: `"${hash.digest('hex')}"`, lastModified: new Date(), headers }
    this.#objects.set(key, object)
    return object
  }

  async delete(key: string): Promise<void> {
    const object = this.#objects.get(key)
    this.#objects.delete(key)
    if (object) await rm(object.file, { force: true })
  }
}

/** The content of an object. */
export const contentOf = ({ file }: S3Object): Readable => createReadStream(file)
