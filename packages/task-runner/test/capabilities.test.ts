import { InMemoryBlobStore } from '@furystack/blob-store'
import { InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { describe, expect, it, vi } from 'vitest'

import {
  assertCapabilities,
  InvalidArgumentError,
  MissingCapabilityError,
  type TaskRunnerCoreOptions,
} from '../src/index.js'
import { FakeQueueAdapter } from './support/fakeQueueAdapter.js'
import { setUpCore } from './support/setUpCore.js'

const blobs = (crossNodeAccessible: boolean) => ({ capabilities: { crossNodeAccessible } })
const bus = (crossNodeDelivery: boolean) => ({ capabilities: { crossNodeDelivery } })

describe('assertCapabilities', () => {
  it('wants what several nodes need', () => {
    const runner = { capabilities: { persistent: true } }
    expect(() => assertCapabilities(runner, blobs(false), bus(true))).toThrow(/cross-node-accessible/)
    expect(() => assertCapabilities(runner, blobs(true), bus(false))).toThrow(/cross-node bus/)
    expect(() => assertCapabilities(runner, blobs(true), bus(true))).not.toThrow()
    expect(() => assertCapabilities(runner, blobs(false), bus(false))).toThrow(
      /cross-node-accessible.*cross-node bus.*capabilityCheck: "off"/,
    )
    expect(() => assertCapabilities({ capabilities: { persistent: false } }, blobs(false), bus(false))).not.toThrow()
  })

  it('says what to bind to which token, and which package has it, for what is missing alone', () => {
    const runner = { capabilities: { persistent: true } }
    const blobAdvice = 'BlobStore, such as defineS3BlobStore of @furystack/s3-blob-store'
    const busAdvice = 'CrossNodeBus, such as defineRedisCrossNodeBusAdapter of @furystack/redis-cross-node-bus'
    const both = new RegExp(`${blobAdvice} .*${busAdvice} `)
    const onlyBlobs = new RegExp(`${blobAdvice} (?!.*CrossNodeBus)`)
    const onlyBus = new RegExp(`(?<!BlobStore.*)${busAdvice} `)
    expect(() => assertCapabilities(runner, blobs(false), bus(false))).toThrow(both)
    expect(() => assertCapabilities(runner, blobs(false), bus(true))).toThrow(onlyBlobs)
    expect(() => assertCapabilities(runner, blobs(true), bus(false))).toThrow(onlyBus)
  })

  it('T49 asks whether the queue is shared, not whether it lasts', () => {
    const shared = { capabilities: { persistent: false, distributed: true } }
    expect(() => assertCapabilities(shared, blobs(false), bus(true))).toThrow(/cross-node-accessible/)
    const alone = { capabilities: { persistent: true, distributed: false } }
    expect(() => assertCapabilities(alone, blobs(false), bus(false))).not.toThrow()
  })
})

describe('a runner core', () => {
  it('T49 checks its parts when it is made', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const queueAdapter = () => new FakeQueueAdapter({ distributed: true })
    expect(() => setUpCore({ queueAdapter: queueAdapter() })).toThrow(/cross-node-accessible/)
    expect(() => setUpCore({ queueAdapter: queueAdapter(), capabilityCheck: 'throw' })).toThrow(MissingCapabilityError)
    const { errors } = setUpCore({ queueAdapter: queueAdapter(), capabilityCheck: 'warn' })
    expect(errors).toMatchObject([{ operation: 'capabilities', error: { part: 'blob store' } }])
    setUpCore({ queueAdapter: queueAdapter(), capabilityCheck: 'warn' })
    expect(warn).toHaveBeenCalledOnce()
    expect(setUpCore({ queueAdapter: queueAdapter(), capabilityCheck: 'off' }).errors).toEqual([])
    expect(setUpCore({}).errors).toEqual([])
    warn.mockRestore()
  })

  it('T48 refuses a delay that its queue cannot keep, before anything is written', async () => {
    const { core, submit, store } = setUpCore({ queueAdapter: new FakeQueueAdapter({ delayedDispatch: false }) })
    expect(core.capabilities.delayedDispatch).toBe(false)
    const options = { type: 'mail', handlerVersion: 1, payload: 1, notBefore: new Date(Date.now() + 1_000) }
    await expect(submit(options)).rejects.toMatchObject({ name: 'UnsupportedDelayError' })
    await expect(core.draft(options)).rejects.toMatchObject({ name: 'UnsupportedDelayError' })
    expect(await store.findUnqueued({ olderThanMs: -1, limit: 10 })).toEqual([])
  })

  it('starts drafts without a delay in front of a queue that knows none, and each once', async () => {
    const { core, adapter } = setUpCore({ queueAdapter: new FakeQueueAdapter({ delayedDispatch: false }) })
    const { id } = await core.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
    await core.start(id)
    expect(adapter.enqueued).toEqual([{ taskId: id, type: 'mail', handlerVersion: 1, tags: [] }])
    await expect(core.start(id)).rejects.toMatchObject({ name: 'InvalidTaskStateError' })
  })

  it.each<[keyof TaskRunnerCoreOptions, unknown]>([
    ['reconcilerIntervalMs', 0],
    ['reconcilerIntervalMs', Number.NaN],
    ['sweepIntervalMs', -1],
    ['sweepIntervalMs', '1000'],
    ['heartbeatIntervalMs', 0],
    ['maxDeliveries', 0],
    ['maxDeliveries', 1.5],
    ['drainTimeoutMs', -1],
    ['abortTimeoutMs', Number.NaN],
    ['capabilityCheck', 'maybe'],
  ])('T43 refuses the option %s of %o', (property, value) => {
    const make = () => setUpCore({ [property]: value })
    expect(make).toThrow(InvalidArgumentError)
    expect(make).toThrow(property)
  })

  it('T29 takes Infinity for never', async () => {
    const { core } = setUpCore({
      bus: new InProcessCrossNodeBus(),
      reconcilerIntervalMs: Infinity,
      sweepIntervalMs: Infinity,
      queueAdapter: new FakeQueueAdapter({ brokerSideReclaim: false }),
    })
    expect(new InMemoryBlobStore().capabilities.crossNodeAccessible).toBe(false)
    await core[Symbol.asyncDispose]()
  })
})
