import type { VirtualClock } from '../../support/virtualClock.js'
import { memoryWorld } from '../crashPoints/memoryWorld.js'
import type { Ground } from './ground.js'
import type { Random } from './random.js'

/** Milliseconds of virtual time. */
const LIMIT_MS = 180_000
/** To look after each timer would take longer than all the rest. */
const TURNS_PER_LOOK = 64

/** The memory of this process, and virtual time. */
export const memoryGround = (random: Random, clock: VirtualClock): Ground => {
  const queue = random.pick(['of its own', 'of its own', 'in the process'] as const)
  return {
    queue,
    makeWorld: (scenario) => memoryWorld(queue, scenario),
    until: async (isDone) => {
      let turns = 0
      await clock.runUntil(() => ++turns % TURNS_PER_LOOK === 0 && isDone(), LIMIT_MS)
    },
    settled: async (promise) => {
      let isSettled = false
      const settle = (): void => {
        isSettled = true
      }
      promise.then(settle, settle)
      await clock.runUntil(() => isSettled, LIMIT_MS)
      return promise
    },
  }
}
