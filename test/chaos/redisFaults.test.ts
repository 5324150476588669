import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { type Fault, Link } from '../support/link.js'
import { until } from '../support/until.js'
import { crashSample } from './crashPoints/crashSample.js'
import { inParallel } from './crashPoints/inParallel.js'
import { faultAt, type Moment, momentsOf } from './crashPoints/moments.js'
import { recover } from './crashPoints/recover.js'
import { type RedisOfWorlds, startRedisOfWorlds } from './crashPoints/redisOfWorlds.js'
import { REDIS_STACKS, type RedisStack } from './crashPoints/redisStage.js'
import { redisWorld } from './crashPoints/redisWorld.js'
import type { Scenario } from './crashPoints/scenario.js'
import { SCENARIOS } from './crashPoints/scenarios.js'

const isFull = process.env['CHAOS'] === 'full'
/** Mostly they wait. */
const AT_ONCE = 24

interface Point extends Fault {
  readonly moment: Moment
}

/** What may become of one command. To die before it is to die after the one before, unless they were under way together. */
const FAULTS: readonly Fault[] = [
  { how: 'crash', when: 'after' },
  { how: 'reject', when: 'after' },
  { how: 'crash', when: 'before' },
]

let redis: RedisOfWorlds
/** What remains of dead processes is cleared away in its own time. */
const funerals = new Set<Promise<void>>()

beforeAll(async () => {
  redis = await startRedisOfWorlds()
})

afterAll(async () => {
  await Promise.all(funerals)
  await redis[Symbol.asyncDispose]()
})

/** Plays the scenario; answers the commands that its first process sent, in order. */
const play = async (stack: RedisStack, scenario: Scenario, point?: Point): Promise<readonly string[]> => {
  await using world = redisWorld(redis, stack, scenario)
  let isArmed = true
  const strike = point && faultAt<Fault>(point.moment, point)
  const link = new Link({ faultOf: (call) => (isArmed ? strike?.(call) : undefined) })
  const first = world.start(link, true)
  let second = first
  try {
    // What a fault makes of a call is its caller's to see; what became of the task is checked below.
    const over = scenario.play(first).catch(() => undefined)
    const isOver = async (): Promise<boolean> => (await world.rows()).length > 0 && world.isOver()
    // Who was refused something need not hear of the end.
    const unheard = point?.how === 'reject' ? [until(isOver, { timeoutMs: 3_000 }).catch(() => undefined)] : []
    await Promise.race([over, link.died, ...unheard])
    const names = [...link.names]
    // A moment that did not come: it is too late for it now.
    isArmed = false
    if (point?.how === 'crash') link.die()
    if (link.isDead || scenario.endsProcess === true) {
      second = world.start(new Link())
      // Room for all tasks of a scenario at once: some never end before another has.
      second.work(4)
    }
    await recover(world, scenario, second)
    return names
  } finally {
    if (link.isDead) {
      link.bury()
      funerals.add(first.dispose())
    }
    await second.dispose()
  }
}

/** All of them; or those where the process dies, and of the stacks that differ less from the others every third. */
const pointsOf = (names: readonly string[], stack: RedisStack, scenario: Scenario): Point[] => {
  const faults = isFull ? FAULTS : FAULTS.slice(0, 2)
  const points = faults.flatMap((fault) => momentsOf(names).map((moment) => ({ ...fault, moment })))
  if (isFull) return points
  const isAlways = ({ how }: Point): boolean => how === 'crash' && stack === 'rows and queue as one'
  return crashSample.everyNth(points, 3, `${stack}/${scenario.name}`, isAlways)
}

describe.each(REDIS_STACKS)(`over Redis, %s, ${crashSample.again}`, (stack) => {
  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'loses and repeats nothing at commands of: %s',
    async (_, scenario) => {
      const points = pointsOf(await play(stack, scenario), stack, scenario)
      const nameOf = ({ how, when, moment: { name, nth } }: Point): string => `${how} ${when} ${name} ${nth}`
      expect(await inParallel(points, { atOnce: AT_ONCE, nameOf }, (point) => play(stack, scenario, point))).toEqual([])
    },
    120_000,
  )
})
