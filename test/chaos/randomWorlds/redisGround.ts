import { until } from '../../support/until.js'
import type { RedisStack } from '../crashPoints/redisStage.js'
import { type RedisWorld, redisWorld } from '../crashPoints/redisWorld.js'
import type { RedisOfWorlds } from '../crashPoints/redisOfWorlds.js'
import type { Ground } from './ground.js'

/** For as long as many worlds share a machine that is busy with others. */
const WITHIN = { timeoutMs: 120_000, intervalMs: 150, description: 'the world is done' }

/** A Redis, and the time of the day; what is left of the world goes with it. */
export const redisGround = (redis: RedisOfWorlds, stack: RedisStack): Ground & AsyncDisposable => {
  let world: RedisWorld | undefined
  return {
    queue: stack === 'rows only' ? 'in the process' : 'of its own',
    makeWorld: (scenario) => (world = redisWorld(redis, stack, scenario)),
    until: async (isDone) => {
      await until(isDone, WITHIN)
    },
    settled: (promise) => promise,
    [Symbol.asyncDispose]: async () => {
      await world?.[Symbol.asyncDispose]()
    },
  }
}
