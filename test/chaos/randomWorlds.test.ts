import { afterEach, describe, expect, it, vi } from 'vitest'

import { virtualClock } from '../support/virtualClock.js'
import { memoryGround } from './randomWorlds/memoryGround.js'
import { playWorld } from './randomWorlds/playWorld.js'
import { seededRandom } from './randomWorlds/random.js'

/** `WORLD_SEED=123` plays that world alone, `WORLDS=100000` so many, from a seed of this run on. */
const only = process.env['WORLD_SEED']
const WORLDS = Number(process.env['WORLDS'] ?? 3_000)
const PARTS = only === undefined ? 10 : 1

const first = Number(only ?? Math.floor(Math.random() * 2 ** 31))
const count = only === undefined ? Math.ceil(WORLDS / PARTS) : 1

/** One world comes out the same each time: time and chance are its own. */
const play = async (seed: number): Promise<number> => {
  const random = seededRandom(seed)
  vi.spyOn(Math, 'random').mockImplementation(() => random.next())
  using clock = virtualClock()
  try {
    return await playWorld(random, memoryGround(random, clock))
  } catch (error) {
    throw new Error(`WORLD_SEED=${String(seed)}: ${String(error)}`, { cause: error })
  } finally {
    clock.clear()
  }
}

describe('three processes, whatever happens to them', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.each(Array.from({ length: PARTS }, (_, part) => first + part * count))(
    `come to what the plans say, in ${String(count)} worlds from seed %i on`,
    async (from) => {
      let tasks = 0
      for (let seed = from; seed < from + count; seed++) tasks += await play(seed)
      expect(tasks).toBeGreaterThan(0)
    },
    180_000,
  )
})
