import { S3Client } from '@aws-sdk/client-s3'
import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector, type Injector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineS3BlobStore } from '@furystack/s3-blob-store'
import { MissingCapabilityError, TaskRunner } from '@furystack/task-runner'
import { describe, expect, it, onTestFinished } from 'vitest'

import { defineRedisTaskRunner, RedisTaskRunner } from '../../src/index.js'
import { connectClient, uniquePrefix } from '../support/redis.js'

/** An application that has bound the runner, with nothing said of `capabilityCheck`, and a blob store of its process. */
const openApplication = async () => {
  const shared = { client: await connectClient(), serviceName: 'test', topicPrefix: uniquePrefix('capabilities') }
  const injector = createInjector()
  onTestFinished(() => injector[Symbol.asyncDispose]())
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  injector.bind(TaskRunner, defineRedisTaskRunner(shared))
  return {
    injector,
    bindSharedBus: () => injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter(shared)),
    bindSharedBlobs: () => {
      const s3 = new S3Client({ region: 'eu-central-1' })
      onTestFinished(() => s3.destroy())
      injector.bind(BlobStore, defineS3BlobStore({ client: s3, bucket: 'never-asked' }))
    },
  }
}

const refusalOf = (injector: Injector): MissingCapabilityError => {
  try {
    injector.get(TaskRunner)
  } catch (error) {
    if (error instanceof MissingCapabilityError) return error
    throw error
  }
  throw new Error('the runner was not refused')
}

describe('a runner over Redis', () => {
  it('is refused with a bus and blobs that stay in their process, and both are named', async () => {
    const { injector } = await openApplication()
    const { part, message } = refusalOf(injector)
    expect(part).toBe('blob store')
    expect(message).toMatch(/cross-node-accessible blob store bound to BlobStore.*cross-node bus bound to CrossNodeBus/)
  })

  it('is refused with blobs alone that stay there', async () => {
    const { injector, bindSharedBus } = await openApplication()
    bindSharedBus()
    const { part, message } = refusalOf(injector)
    expect(part).toBe('blob store')
    expect(message).not.toContain('CrossNodeBus')
  })

  it('is refused with a bus alone that stays there', async () => {
    const { injector, bindSharedBlobs } = await openApplication()
    bindSharedBlobs()
    const { part, message } = refusalOf(injector)
    expect(part).toBe('bus')
    expect(message).not.toContain('BlobStore')
  })

  it('is made with what the refusal names, and says that several nodes share its tasks', async () => {
    const { injector, bindSharedBus, bindSharedBlobs } = await openApplication()
    const named = Array.from(refusalOf(injector).message.matchAll(/such as (\w+) of (@furystack\/[\w-]+)/g))
    for (const [, factory = '', from = ''] of named)
      expect(await import(from), from).toHaveProperty(factory, expect.any(Function))
    expect(named.map(([, factory]) => factory)).toEqual([defineS3BlobStore.name, defineRedisCrossNodeBusAdapter.name])
    bindSharedBlobs()
    bindSharedBus()
    const runner = injector.get(TaskRunner)
    expect(runner).toBeInstanceOf(RedisTaskRunner)
    expect(runner.capabilities).toMatchObject({ persistent: true, distributed: true })
  })
})
