import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { inParallel } from './crashPoints/inParallel.js'
import { type RedisOfWorlds, startRedisOfWorlds } from './crashPoints/redisOfWorlds.js'
import { REDIS_STACKS, type RedisStack } from './crashPoints/redisStage.js'
import { playWorld } from './randomWorlds/playWorld.js'
import { seededRandom } from './randomWorlds/random.js'
import { redisGround } from './randomWorlds/redisGround.js'

/**
 * `WORLDS=1000` plays so many, from a seed of this run on; `WORLD_SEED=123` that world alone, and with `WORLDS=20` twenty
 * times. A seed decides what is asked for and when, and what chance does with the calls of a process in their order.
 * When they come is up to the machine: what has failed may take several goes to fail again.
 */
const only = process.env['WORLD_SEED']
const WORLDS = Number(process.env['WORLDS'] ?? (only === undefined ? 180 : REDIS_STACKS.length))
/** Of each stack; mostly they wait. */
const AT_ONCE = 20

const first = Number(only ?? Math.floor(Math.random() * 2 ** 31))
const count = Math.ceil(WORLDS / REDIS_STACKS.length)

let redis: RedisOfWorlds

beforeAll(async () => {
  redis = await startRedisOfWorlds()
})

afterAll(async () => {
  await redis[Symbol.asyncDispose]()
})

const play = async (stack: RedisStack, seed: number): Promise<number> => {
  await using ground = redisGround(redis, stack)
  return await playWorld(seededRandom(seed), ground)
}

describe.concurrent('three processes over Redis, whatever happens to them', () => {
  it.each(REDIS_STACKS.map((stack, index) => [stack, only === undefined ? first + index * count : first] as const))(
    `come with %s to what the plans say, in ${String(count)} worlds from seed %i on`,
    async (stack, from) => {
      const seeds = Array.from({ length: count }, (_, index) => (only === undefined ? from + index : from))
      const nameOf = (seed: number): string => `WORLD_SEED=${String(seed)}`
      let tasks = 0
      const failures = await inParallel(seeds, { atOnce: AT_ONCE, nameOf }, async (seed) => {
        tasks += await play(stack, seed)
      })
      expect(failures).toEqual([])
      expect(tasks).toBeGreaterThan(0)
    },
    60_000 + count * 10_000,
  )
})
