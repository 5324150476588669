import fc from 'fast-check'
import { defaultIfEmpty } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Claim, type Lane, lane, type LaneReading } from '../../src/index.js'
import { AGES, type LanePortHarness, mail, reading, scan } from './lanePort/harness.js'
import { redisHarness } from './lanePort/redisHarness.js'
import { virtualHarness } from './lanePort/virtualHarness.js'

const lanes = [mail, scan, lane('mail', 2), lane('mail', 1, ['eu'])]
const workers = ['u', 'v']

/** One side: a port, and the claims that it gave, in the order in which both sides gave them. */
interface Side {
  readonly harness: LanePortHarness
  readonly claims: Claim[]
}

/** Does something to one side and tells what can be compared; entry ids and times cannot. */
type Step = (side: Side) => Promise<unknown>

const told = ({ taskId, lane: of, slot, workerId, deliveryCount, isCapped }: Claim): unknown => ({
  taskId,
  lane: of.name,
  slot,
  workerId,
  deliveryCount,
  isCapped,
})

const anyLane = fc.constantFrom(...lanes)
const anyReadings = fc
  .shuffledSubarray(lanes, { minLength: 1 })
  .chain((chosen) =>
    fc.tuple(
      fc.constant(chosen),
      fc.array(fc.option(fc.integer({ min: 1, max: 3 })), { minLength: chosen.length, maxLength: chosen.length }),
    ),
  )
  .map(([chosen, caps]): LaneReading[] => {
    // A type has one cap, whichever of its lanes is read.
    const capOf = new Map(chosen.map((of, index) => [of.type, caps[index] ?? undefined]))
    return chosen.map((of) => {
      const cap = capOf.get(of.type)
      return reading(of, cap === undefined ? {} : { cap })
    })
  })
const anySlots = fc
  .tuple(fc.constantFrom(...workers), fc.subarray([0, 1, 2, 3], { minLength: 1 }))
  .map(([workerId, indices]) => ({ workerId, slots: indices.map((index) => `${workerId}-slot-${String(index)}`) }))
const anyClaim = fc.nat({ max: 40 })

const withClaim =
  (index: number, act: (side: Side, claim: Claim) => Promise<unknown>): Step =>
  async (side) => {
    const claim = side.claims[index % Math.max(1, side.claims.length)]
    return claim ? act(side, claim) : undefined
  }

const enqueue = fc
  .tuple(anyLane, fc.nat({ max: 99 }), fc.boolean())
  .map(([of, id, isDelayed]): Step => async ({ harness: { port, ask, now } }) => {
    const notBefore = isDelayed && id % 5 === 0 ? (await now()) + AGES : 0
    return ask(port.enqueue({ taskId: String(id), lane: of, notBefore }))
  })

const read = fc
  .tuple(anySlots, anyReadings)
  .map(([asker, readings]): Step => async ({ harness: { port, ask }, claims }) => {
    const reply = await ask(port.read({ ...asker, lanes: readings }))
    claims.push(...reply.claims)
    return { ...reply, claims: reply.claims.map(told) }
  })

const sweep = fc
  .tuple(anySlots, anyReadings, fc.boolean())
  .map(([asker, readings, isEager]): Step => async ({ harness: { port, ask }, claims }) => {
    // With a visibility of 0 everything is stale at once, and with ages nothing is.
    const visibilityTimeoutMs = isEager ? 0 : AGES
    const stale = readings.map(({ lane: of }) => ({ lane: of, visibilityTimeoutMs }))
    const reply = await ask(port.sweep({ ...asker, lanes: stale }))
    claims.push(...reply.claims)
    return { claims: reply.claims.map(told), isDueNow: reply.nextStaleMs === 0, positions: [...reply.positions] }
  })

const settle = fc
  .tuple(anyClaim, fc.constantFrom('done', 'requeue', 'delay'))
  .map(([index, kind]) =>
    withClaim(index, ({ harness: { port, ask } }, claim) =>
      ask(
        port.settle(
          claim,
          kind === 'done' ? { kind } : { kind: 'requeue', ...(kind === 'delay' && { delayMs: AGES }) },
        ),
      ),
    ),
  )

const handBack = anyClaim.map((index) =>
  withClaim(index, ({ harness: { port, ask } }, claim) => ask(port.handBack([claim]))),
)

const deleteEntry = anyClaim.map((index) =>
  withClaim(index, ({ harness }, claim) => harness.deleteEntry(claim.lane, claim.entryId)),
)

const extend = fc.constant<Step>(({ harness: { port, ask }, claims }) => ask(port.extend(claims)))

const promote = fc.constantFrom(...workers).map((promoterId): Step => async ({ harness: { port, ask } }) => {
  const reply = await ask(port.promote({ promoterId, roleMs: AGES, limit: 5 }))
  return { ...reply, nextDueMs: reply.nextDueMs !== undefined }
})

const retire = fc.tuple(anySlots, fc.boolean()).map(
  ([{ workerId, slots }, withRole]): Step =>
    ({ harness: { port, ask } }) =>
      ask(port.retire({ ...(withRole && { workerId }), slots, lanes, goneMs: 0 })),
)

const pause = fc.tuple(fc.option(anyLane, { freq: 5 }), fc.boolean()).map(
  ([of, isOn]): Step =>
    ({ harness }) =>
      harness[isOn ? 'pause' : 'resume'](of ?? undefined),
)

const destroyGroup = anyLane.map((of): Step => async ({ harness }) => {
  if ((await harness.length(of)) > 0) await harness.destroyGroup(of)
})

const steps = fc.array(
  fc.oneof(
    { arbitrary: enqueue, weight: 8 },
    { arbitrary: read, weight: 8 },
    { arbitrary: settle, weight: 6 },
    { arbitrary: sweep, weight: 3 },
    { arbitrary: fc.oneof(handBack, extend, promote, retire, pause, deleteEntry, destroyGroup), weight: 5 },
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
)

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
const tokensOf = async ({ harness: { port, ask } }: Side): Promise<string[]> => {
  const tokens: string[] = []
  for (const of of lanes) {
    const lane$ = port.listen({ lanes: [reading(of)], schedule: false, blockMs: 1 })
    const cap$ = port.listen({ lanes: [reading(of, { cap: 1 })], schedule: false, blockMs: 1 })
    for (const bell$ of [lane$, cap$]) tokens.push(`${of.name} ${await ask(bell$.pipe(defaultIfEmpty('silent')))}`)
  }
  const schedule$ = port.listen({ lanes: [], schedule: true, blockMs: 1 })
  return [...tokens, await ask(schedule$.pipe(defaultIfEmpty('silent')))]
}

/** All that can be seen of the lanes from outside. */
const seen = async (side: Side): Promise<unknown> => {
  const { harness } = side
  const known = await harness.ask(harness.port.knownLanes())
  return {
    known: known.map(({ name }) => name).sort(),
    parked: await harness.parked(),
    lengths: await Promise.all(lanes.map((of) => harness.length(of))),
    holders: await Promise.all(lanes.map((of) => holdersOf(side, of))),
    tokens: await tokensOf(side),
  }
}

describe('the virtual and the real lanes', () => {
  it('do the same, whatever happens to them', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const sides: Side[] = [
          { harness: await virtualHarness(0)(), claims: [] },
          { harness: await redisHarness(), claims: [] },
        ]
        for (const step of sequence) {
          const [virtual, real] = [await step(sides[0] as Side), await step(sides[1] as Side)]
          expect(virtual).toEqual(real)
        }
        const [virtual, real] = await Promise.all(sides.map(seen))
        expect(virtual).toEqual(real)
      }),
      { numRuns: 15 },
    )
  }, 60_000)
})
