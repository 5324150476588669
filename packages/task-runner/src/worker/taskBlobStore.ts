import type {
  BlobDownloadUrlOptions,
  BlobGetResult,
  BlobListOptions,
  BlobListResult,
  BlobMetadata,
  BlobPutInput,
  BlobPutOptions,
  BlobRef,
  BlobStore,
  BlobStoreCapabilities,
  BlobUploadUrl,
  BlobUploadUrlOptions,
} from '@furystack/blob-store'

import type { RunnerParts } from '../runner/runnerParts.js'
import { guardUpload } from './guardUpload.js'
import type { RunBlobs } from './runBlobs.js'

/**
 * The bound blob store as the handler of one run sees it: whatever is written below `tasks/<taskId>/`, by the handler or by
 * whoever it gives an upload URL to, stands on the record of the task before. The rest goes through as it is.
 */
export class TaskBlobStore implements BlobStore {
  readonly capabilities: BlobStoreCapabilities
  readonly storeName: string
  readonly #store: BlobStore

  constructor(
    private readonly parts: RunnerParts,
    private readonly blobs: RunBlobs,
  ) {
    this.#store = parts.blobStore
    this.capabilities = this.#store.capabilities
    this.storeName = this.#store.storeName
  }

  async put(key: string, payload: BlobPutInput, options?: BlobPutOptions): Promise<BlobRef> {
    const isOwn = await this.#reserve(key, options?.contentType)
    const since = this.parts.clock.elapsed()
    const ref = await this.#upload(key, payload, options)
    this.#tell('onBlobPut', key, ref.contentLength, since)
    if (isOwn) await this.blobs.complete(ref)
    return ref
  }

  async get(key: string): Promise<BlobGetResult> {
    const since = this.parts.clock.elapsed()
    const result = await this.#store.get(key)
    this.#tell('onBlobGet', key, result.contentLength, since)
    return result
  }

  head(key: string): Promise<BlobMetadata | undefined> {
    return this.#store.head(key)
  }

  async delete(key: string): Promise<void> {
    const { telemetry, clock } = this.parts
    const since = clock.elapsed()
    await this.#store.delete(key)
    telemetry.emit('onBlobDelete', { key, durationMs: clock.elapsed() - since })
  }

  list(prefix: string, options?: BlobListOptions): Promise<BlobListResult> {
    return this.#store.list(prefix, options)
  }

  getDownloadUrl(key: string, options: BlobDownloadUrlOptions): Promise<string> {
    return this.#store.getDownloadUrl(key, options)
  }

  async getUploadUrl(key: string, options: BlobUploadUrlOptions): Promise<BlobUploadUrl> {
    await this.#reserve(key, options.contentType)
    return this.#store.getUploadUrl(key, options)
  }

  /** Nothing: the store belongs to the application. */
  [Symbol.dispose](): void {}

  /** What is not written here goes over a network, where nobody may listen to what happens to its source. */
  #upload(key: string, payload: BlobPutInput, options: BlobPutOptions | undefined): Promise<BlobRef> {
    if (!this.capabilities.crossNodeAccessible) return this.#store.put(key, payload, options)
    const upload = guardUpload(payload)
    return Promise.race([this.#store.put(key, upload.payload, options), upload.failed])
  }

  async #reserve(key: string, contentType: string | undefined): Promise<boolean> {
    if (!this.blobs.isOwn(key)) return false
    await this.blobs.reserve({ storeName: this.storeName, key, ...(contentType !== undefined && { contentType }) })
    return true
  }

  #tell(event: 'onBlobPut' | 'onBlobGet', key: string, byteLength = 0, since: number): void {
    const { telemetry, clock } = this.parts
    telemetry.emit(event, { key, byteLength, durationMs: clock.elapsed() - since })
  }
}
