import { map } from 'rxjs'
import { describe, expect, it } from 'vitest'

import type { Bell, Lane, ListenReply } from '../../src/index.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { assertProperty } from '../support/assertProperty.js'
import { reading } from './lanePort/harness.js'
import { anyLaneSteps, LANES, type Side } from './lanePort/laneSteps.js'
import { redisHarness } from './lanePort/redisHarness.js'
import { virtualHarness } from './lanePort/virtualHarness.js'

/** Without slots nothing is read. */
const ONLY_LISTEN = { workerId: 'onlooker', slots: [], blockMs: 1 }

const bellOf = ({ bell }: ListenReply): Bell | 'silent' => bell ?? 'silent'

const virtualSide = async (): Promise<Side> => {
  const harness = await virtualHarness(0)()
  const { port, ask } = harness
  return {
    harness,
    claims: [],
    hear: (lanes, schedule = false) => ask(port.listen({ ...ONLY_LISTEN, lanes, schedule }).pipe(map(bellOf))),
  }
}

const realSide = async (): Promise<Side> => {
  const harness = await redisHarness()
  const { port, ask, command, root } = harness
  const keys = keysOf(root.slice(0, -'tasks:'.length))
  return {
    harness,
    claims: [],
    hear: async (lanes, schedule = false) => {
      // A server takes a tenth of a second to notice the end of the shortest wait.
      const bells = lanes.flatMap(({ lane: of, cap }) => [
        keys.bell(of),
        ...(cap === undefined ? [] : [keys.capBell(of.type)]),
      ])
      if ((await command('EXISTS', ...bells, ...(schedule ? [keys.scheduleBell] : []))) === 0) return 'silent'
      return ask(port.listen({ ...ONLY_LISTEN, lanes, schedule }).pipe(map(bellOf)))
    },
  }
}

/** Who holds what in a lane; a group that was lost holds nothing. */
const holdersOf = async ({ harness }: Side, of: Lane): Promise<unknown> => {
  try {
    const pending = await harness.pending(of)
    return pending.map(({ consumer, deliveryCount }) => [consumer, deliveryCount])
  } catch {
    return []
  }
}

/** Which bells hold a token. */
const tokensOf = async ({ hear }: Side): Promise<string[]> => {
  const tokens: string[] = []
  for (const of of LANES) {
    tokens.push(`${of.name} ${await hear([reading(of)])}`)
    tokens.push(`cap of ${of.name} ${await hear([reading(of, { cap: 1 })])}`)
  }
  return [...tokens, await hear([], true)]
}

/** All that can be seen of the lanes from outside. */
const seen = async (side: Side): Promise<unknown> => {
  const { harness } = side
  const known = await harness.ask(harness.port.knownLanes())
  return {
    known: known.map(({ name }) => name).sort(),
    parked: await harness.parked(),
    lengths: await Promise.all(LANES.map((of) => harness.length(of))),
    holders: await Promise.all(LANES.map((of) => holdersOf(side, of))),
    tokens: await tokensOf(side),
  }
}

describe('the virtual and the real lanes', () => {
  it('do the same, whatever happens to them', async () => {
    await assertProperty(
      [anyLaneSteps],
      async ([steps], doing) => {
        const [virtual, real] = [await virtualSide(), await realSide()]
        for (const step of steps) {
          doing(step)
          const [expected, actual] = [await step.run(virtual), await step.run(real)]
          expect(actual).toEqual(expected)
        }
        doing('what can be seen')
        const [expected, actual] = await Promise.all([virtual, real].map(seen))
        expect(actual).toEqual(expected)
      },
      { numRuns: 100 },
    )
  }, 60_000)
})
