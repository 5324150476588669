import type { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import type {
  createClient as createClient5,
  createClientPool as createClientPool5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis-v5'
import { describe, expectTypeOf, it } from 'vitest'

import type {
  AnyRedisClient,
  RedisClient,
  RedisClientPool,
  RedisCluster,
  RedisQueueOptions,
  RedisSentinel,
} from '../../src/index.js'

describe('the option client', () => {
  it('takes what either major version of the client makes', () => {
    expectTypeOf<ReturnType<typeof createClient>>().toExtend<RedisClient>()
    expectTypeOf<ReturnType<typeof createClient5>>().toExtend<RedisClient>()
    expectTypeOf<ReturnType<typeof createClientPool>>().toExtend<RedisClientPool>()
    expectTypeOf<ReturnType<typeof createClientPool5>>().toExtend<RedisClientPool>()
    expectTypeOf<ReturnType<typeof createSentinel>>().toExtend<RedisSentinel>()
    expectTypeOf<ReturnType<typeof createSentinel5>>().toExtend<RedisSentinel>()
    expectTypeOf<ReturnType<typeof createCluster>>().toExtend<RedisCluster>()
    expectTypeOf<ReturnType<typeof createCluster5>>().toExtend<RedisCluster>()
    expectTypeOf<RedisQueueOptions['client']>().toEqualTypeOf<AnyRedisClient>()
  })
})
