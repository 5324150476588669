import type { CrossNodeBus } from '@furystack/cross-node-bus'
import type { ServiceFactory } from '@furystack/inject'
import type { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import type { createClient as createClient5, createSentinel as createSentinel5 } from 'redis-v5'
import { describe, expect, expectTypeOf, it } from 'vitest'

import {
  type defineRedisCrossNodeBusAdapter,
  type DefineRedisCrossNodeBusAdapterOptions,
  PublishError,
  type PublishFailure,
  type RedisClient,
  type RedisCrossNodeBus,
  type RedisCrossNodeBusOptions,
} from '../src/index.js'

describe('types', () => {
  it('take the clients of either major version', () => {
    expectTypeOf<ReturnType<typeof createClient>>().toExtend<RedisClient>()
    expectTypeOf<ReturnType<typeof createClient5>>().toExtend<RedisClient>()
    expectTypeOf<ReturnType<typeof createClientPool>>().toExtend<RedisCrossNodeBusOptions['client']>()
    expectTypeOf<ReturnType<typeof createCluster>>().toExtend<RedisCrossNodeBusOptions['client']>()
    expectTypeOf<ReturnType<typeof createSentinel>>().toExtend<RedisCrossNodeBusOptions['client']>()
    expectTypeOf<ReturnType<typeof createSentinel5>>().toExtend<RedisCrossNodeBusOptions['client']>()
  })

  it('make a bus that ends gently', () => {
    expectTypeOf<RedisCrossNodeBus>().toExtend<CrossNodeBus>()
    expectTypeOf<RedisCrossNodeBus>().toExtend<AsyncDisposable>()
    expectTypeOf<RedisCrossNodeBus['whenReady']>().toEqualTypeOf<(topic: string, prefix?: string) => Promise<void>>()
  })

  it('take everything but telemetry in the options of the factory', () => {
    expectTypeOf<DefineRedisCrossNodeBusAdapterOptions>().toEqualTypeOf<Omit<RedisCrossNodeBusOptions, 'telemetry'>>()
    expectTypeOf<typeof defineRedisCrossNodeBusAdapter>().returns.toEqualTypeOf<ServiceFactory<CrossNodeBus>>()
    expectTypeOf<Pick<RedisCrossNodeBusOptions, 'client' | 'serviceName'>>().toExtend<RedisCrossNodeBusOptions>()
    // @ts-expect-error -- the client cannot be done without
    expectTypeOf<{ serviceName: string }>().toExtend<RedisCrossNodeBusOptions>()
  })

  it('tell why a publication failed', () => {
    expectTypeOf<PublishError['reason']>().toEqualTypeOf<PublishFailure>()
    const error = new PublishError('t', 'expired', { cause: 'why' })
    expect(error).toMatchObject({ name: 'PublishError', topic: 't', reason: 'expired', cause: 'why' })
  })
})
