import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

import { type Fault, Link } from '../support/link.js'
import { type VirtualClock, virtualClock } from '../support/virtualClock.js'
import { checkRecovered } from './crashPoints/checkRecovered.js'
import { memoryWorld, type QueueKind } from './crashPoints/memoryWorld.js'
import { type Scenario, type Stage } from './crashPoints/scenario.js'
import { SCENARIOS } from './crashPoints/scenarios.js'
import type { World } from './crashPoints/world.js'

const FAULTS: readonly Fault[] = [
  { how: 'crash', when: 'before' },
  { how: 'crash', when: 'after' },
  { how: 'reject', when: 'before' },
  { how: 'reject', when: 'after' },
]
const isFull = process.env['CHAOS'] === 'full'
const LIMIT_MS = 60_000
/** What a process asks again and again, whatever it does; once of each is enough. */
const ROUTINE = new Set([
  'lead',
  'findUnqueued',
  'expireAttempts',
  'promote',
  'sweep',
  'listen',
  'knownLanes',
  'retire',
])

describe.each<QueueKind>(['in the process', 'of its own'])('over rows in memory and a queue %s', (queue) => {
  let clock: VirtualClock
  let world: World
  const realFetch = globalThis.fetch

  beforeAll(() => {
    clock = virtualClock()
    globalThis.fetch = (url) => {
      world.log.push({ kind: 'did', taskId: url instanceof Request ? url.url : String(url), what: 'called' })
      return Promise.resolve(new Response('answer'))
    }
  })

  afterEach(() => {
    clock.clear()
  })

  afterAll(() => {
    clock[Symbol.dispose]()
    globalThis.fetch = realFetch
  })

  /** Plays the scenario; answers what it asked of store and queue, in order. */
  const play = async (scenario: Scenario, fault?: Fault & { at: number }): Promise<readonly string[]> => {
    world = memoryWorld(queue, scenario)
    const link = new Link({ faultOf: ({ index }) => (index === fault?.at ? fault : undefined) })
    const first = world.start(link, true)
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    // What a fault makes of a call is its caller's to see; what became of the task is checked below.
    scenario.play(first).then(over, over)
    const isDone = async () => link.isDead || (isOver && (fault === undefined || (await world.isOver())))
    try {
      await clock.runUntil(isDone, 20_000)
    } catch (error) {
      if (fault === undefined) throw error
    }
    const asked = [...link.names]
    const told = [...world.log]
    const second: Stage = link.isDead || scenario.endsProcess === true ? world.start(new Link()) : first
    if (second !== first) second.work(2)
    let isRepeated = false
    void scenario.again?.(second, told, await world.rows()).then(() => {
      isRepeated = true
    })
    await clock.runUntil(async () => (isRepeated || scenario.again === undefined) && (await world.isOver()), LIMIT_MS)
    await clock.pass(7_000)
    const outcome = await world.outcome()
    checkRecovered(outcome)
    scenario.check(outcome)
    expect(await world.leftovers()).toEqual([])
    let isDisposed = false
    void second.dispose().then(() => {
      isDisposed = true
    })
    await clock.runUntil(() => isDisposed || link.isDead, LIMIT_MS)
    clock.clear()
    return asked
  }

  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'loses and repeats nothing at any step of: %s',
    async (_, scenario) => {
      const steps = await play(scenario)
      const failures: string[] = []
      for (const [at, step] of steps.entries()) {
        if (ROUTINE.has(step) && steps.indexOf(step) < at) continue
        // To die before a step is to die after the one before it, unless steps are under way beside each other.
        for (const fault of isFull || at === 0 ? FAULTS : FAULTS.slice(1)) {
          try {
            await play(scenario, { ...fault, at })
          } catch (error) {
            failures.push(`${fault.how} ${fault.when} ${String(at)} ${step}: ${String(error)}`)
            clock.clear()
          }
        }
      }
      expect(failures).toEqual([])
    },
    60_000,
  )
})
