import { mkdtemp, rm } from 'node:fs/promises'
import { existsSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { S3Client } from '@aws-sdk/client-s3'
import { BlobStore, BlobStoreNotConfiguredError, InMemoryBlobStore } from '@furystack/blob-store'
import { defineFileSystemBlobStore, FileSystemBlobStore, MIN_SECRET_LENGTH } from '@furystack/filesystem-blob-store'
// By its name, as the published packages import it: this is the built package and not its sources.
import type { Injector, ServiceFactory } from '@furystack/inject'
import { createInjector, defineService } from '@furystack/inject'
import { defineS3BlobStore, S3BlobStore } from '@furystack/s3-blob-store'
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'

const rootFolder = fileURLToPath(new URL('../../../', import.meta.url))

const packageFolder = (name: string) => join(rootFolder, 'node_modules/@furystack', name)

/** The stores are closed by the injector, after which they refuse to work. */
const closes = async (injector: Injector, factory: ServiceFactory<BlobStore>) => {
  injector.bind(BlobStore, factory)
  const store = injector.get(BlobStore)
  await injector[Symbol.asyncDispose]()
  await expect(store.head('key')).rejects.toMatchObject({ code: 'io-error' })
}

describe('the installation', () => {
  it('has a single inject package, that of the workspace', () => {
    expect(realpathSync(packageFolder('inject'))).toBe(realpathSync(join(rootFolder, 'packages/inject')))
    for (const name of ['blob-store', 'filesystem-blob-store', 's3-blob-store']) {
      expect(existsSync(packageFolder(name))).toBe(true)
      expect(existsSync(join(packageFolder(name), 'node_modules/@furystack/inject'))).toBe(false)
    }
  })
})

describe('an unbound BlobStore', () => {
  it('throws its own error, unwrapped and the same each time', () => {
    const injector = createInjector()
    const caught: unknown[] = []
    for (let attempt = 0; attempt < 2; attempt += 1) {
      try {
        injector.get(BlobStore)
      } catch (error) {
        caught.push(error)
      }
    }
    expect(caught[0]).toBeInstanceOf(BlobStoreNotConfiguredError)
    expect(caught[0]).toMatchObject({ code: 'invalid-config' })
    expect(caught[1]).toBe(caught[0])
  })

  it('can be bound after a service has failed for want of it', () => {
    const Gallery = defineService({
      name: 'Gallery',
      lifetime: 'singleton',
      factory: ({ inject }) => ({ store: inject(BlobStore) }),
    })
    const injector = createInjector()
    expect(() => injector.get(Gallery)).toThrow(BlobStoreNotConfiguredError)
    const store = new InMemoryBlobStore()
    injector.bind(BlobStore, () => store)
    expect(injector.get(Gallery).store).toBe(store)
  })
})

describe('the in-memory store', () => {
  it('works, and is shared by the scopes', async () => {
    await using injector = createInjector()
    injector.bind(BlobStore, () => new InMemoryBlobStore({ name: 'memory' }))
    const store = injector.get(BlobStore)
    expectTypeOf(store).toEqualTypeOf<BlobStore>()
    expect(injector.createScope().get(BlobStore)).toBe(store)
    expect(store.storeName).toBe('memory')
    await store.put('key', Buffer.from('content'))
    expect(await store.head('key')).toMatchObject({ contentLength: 7 })
  })

  it('is closed with the injector', async () => {
    await closes(createInjector(), ({ onDispose }) => {
      const store = new InMemoryBlobStore()
      onDispose(() => store[Symbol.dispose]())
      return store
    })
  })
})

describe('the filesystem store', () => {
  let root: string

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'inject-blobs-'))
  })

  afterEach(() => rm(root, { recursive: true, force: true }))

  const define = () => defineFileSystemBlobStore({ root, secret: 's'.repeat(MIN_SECRET_LENGTH), name: 'files' })

  it('works', async () => {
    await using injector = createInjector()
    injector.bind(BlobStore, define())
    const store = injector.get(BlobStore)
    expect(store).toBeInstanceOf(FileSystemBlobStore)
    expect(store.storeName).toBe('files')
    await store.put('key', Buffer.from('content'))
    expect(await store.head('key')).toMatchObject({ contentLength: 7 })
  })

  it('is closed with the injector', () => closes(createInjector(), define()))
})

describe('the S3 store', () => {
  const client = new S3Client({ region: 'eu-central-1', credentials: { accessKeyId: 'id', secretAccessKey: 'secret' } })
  const define = () => defineS3BlobStore({ client, bucket: 'blobs', name: 's3' })

  it('is built by its factory', async () => {
    await using injector = createInjector()
    injector.bind(BlobStore, define())
    const store = injector.get(BlobStore)
    expect(store).toBeInstanceOf(S3BlobStore)
    expect(store.storeName).toBe('s3')
  })

  it('is closed with the injector', () => closes(createInjector(), define()))
})
