import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import {
  type AnyRedisClient,
  defineRedisTaskRunner,
  InvalidOptionError,
  openLanePort,
  redisQueueAdapter,
} from '../../../src/index.js'
import { exercises } from '../../support/exercise.js'
import { connectClient, redisUrl, uniquePrefix } from '../../support/redis.js'
import { serverOfTest } from '../../support/redisServer.js'
import { serviceOn } from '../../support/service.js'
import { startPosing } from '../../support/startPosing.js'
import { until } from '../../support/until.js'

describe('a client of the wrong shape is refused at the start', () => {
  it.each<[string, AnyRedisClient]>([
    ['createClient', createClient()],
    ['createClientPool', createClientPool()],
    ['createSentinel', createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] })],
    ['createCluster', createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })],
  ])('one of %s that is not connected', (_, client) => {
    const options = { client, serviceName: 'test', topicPrefix: '{test}/' }
    const sentence = 'client: "not connected" is not a connected client: await client.connect() before'
    expect(() => redisQueueAdapter(options)).toThrow(sentence)
    expect(() => openLanePort(options)).toThrow(sentence)
  })

  it.each([
    ['nothing', undefined],
    ['a URL', 'redis://127.0.0.1'],
    ['the client of another library', { status: 'ready', duplicate: () => undefined, sendCommand: () => undefined }],
  ])('%s', (_, client) => {
    const define = () => defineRedisTaskRunner({ client: client as never, serviceName: 'test' })
    expect(define).toThrow(InvalidOptionError)
    expect(define).toThrow(/^client: .* is not made by createClient, createClientPool, createSentinel or createCluster/)
  })

  it.each(['', 'svc-a/', '{}svc-a/', 'svc-{a/'])(
    'a cluster with the prefix "%s", which has no hash tag',
    (topicPrefix) => {
      const client = createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })
      const define = () => defineRedisTaskRunner({ client, serviceName: 'test', topicPrefix })
      expect(define).toThrow(InvalidOptionError)
      expect(define).toThrow(/^topicPrefix: .* is not a prefix with a hash tag, as "{svc-a}\/" is/)
    },
  )

  it('one in subscriber mode; not one that subscribes besides', async () => {
    const subscribed = async (RESP: 2 | 3) => {
      const client = createClient({ url: redisUrl(), RESP })
      await client.connect()
      onTestFinished(() => client.destroy())
      await client.subscribe('news', () => undefined)
      return client
    }
    const options = { serviceName: 'test', topicPrefix: uniquePrefix('subscriber') }
    const client = await subscribed(2)
    expect(() => redisQueueAdapter({ ...options, client })).toThrow(
      /^client: "in subscriber mode" is not a client for commands/,
    )
    const adapter = redisQueueAdapter({ ...options, client: await subscribed(3) })
    await adapter.enqueue({ taskId: 'a', type: 'mail', handlerVersion: 1 })
    await adapter[Symbol.asyncDispose]()
  })
})

describe('a server of the wrong shape is refused by the first call, and told once', () => {
  it.each<[string, () => Promise<string>, RegExp]>([
    [
      'a Sentinel',
      async () => (await serverOfTest({ sentinel: ['sentinel monitor main 127.0.0.1 1 1'] })).url,
      /^client: "connected to a Sentinel" is not one of createSentinel/,
    ],
    [
      'a node of a cluster',
      async () => (await serverOfTest({ args: ['--cluster-enabled', 'yes'] })).url,
      /^client: "connected to a node of a cluster" is not one of createCluster/,
    ],
    [
      'a server that is too old',
      async () => startPosing(await serverOfTest(), { version: '6.0.16' }),
      /^client: "a server of version 6\.0\.\d+" is not one of Redis 6\.2 or newer, or Valkey/,
    ],
  ])('%s', async (_, start, sentence) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    onTestFinished(() => warn.mockRestore())
    const client = await connectClient({ url: await start() })
    const service = serviceOn(client, '{shape}/', { commandDeadlineMs: 2_000 })
    const lost: unknown[] = []
    service.runner.events$.subscribe((event) => event.kind === 'connectionLost' && lost.push(event.error))
    service.work(exercises)
    const submit = () => service.runner.submit({ type: 'double', handlerVersion: 1, payload: 1 })
    for (const attempt of [submit, submit]) {
      const error: unknown = await attempt().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(InvalidOptionError)
      expect(error).toMatchObject({ effect: 'excluded', message: expect.stringMatching(sentence) as string })
    }
    await until(() => lost.length === 2, { description: 'both connections have been told' })
    expect(warn.mock.calls).toEqual([[expect.stringMatching(sentence), 'RedisTaskRunnerWarning']])
    await service.dispose()
  })
})
