export type {
  AnyRedisClient,
  RedisClient,
  RedisClientPool,
  RedisCluster,
  RedisClusterNode,
  RedisSentinel,
} from '@furystack/redis-connection'
export { BusOptionError } from './busOptionError.js'
export {
  defineRedisCrossNodeBusAdapter,
  type DefineRedisCrossNodeBusAdapterOptions,
} from './defineRedisCrossNodeBusAdapter.js'
export { PublishError, type PublishFailure } from './publishing/publishError.js'
export { RedisCrossNodeBus } from './redisCrossNodeBus.js'
export type { RedisCrossNodeBusOptions } from './redisCrossNodeBusOptions.js'
export { compareRedisStreamId } from './streams/compareRedisStreamId.js'
