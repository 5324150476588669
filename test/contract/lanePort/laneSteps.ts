import fc from 'fast-check'

import { type Bell, type Claim, lane, type LaneReading } from '../../../src/index.js'
import { type NamedStep, namedStep } from '../../support/namedStep.js'
import { AGES, type LanePortHarness, mail, reading, scan } from './harness.js'

/** One side: a port, and the claims that it gave, in the order in which both sides gave them. */
export interface Side {
  readonly harness: LanePortHarness
  readonly claims: Claim[]
  /** Takes the token of the first of the bells that has one, if any has. */
  readonly hear: (lanes: readonly LaneReading[], schedule?: boolean) => Promise<Bell | 'silent'>
}

/** Tells what can be compared; entry ids and times cannot. */
export type LaneStep = NamedStep<Side>

export const LANES = [mail, scan, lane('mail', 2), lane('mail', 1, ['eu'])]
const WORKERS = ['u', 'v']

const told = ({ taskId, lane: of, slot, workerId, deliveryCount, isCapped }: Claim): unknown => ({
  taskId,
  lane: of.name,
  slot,
  workerId,
  deliveryCount,
  isCapped,
})

const toldReadings = (readings: readonly LaneReading[]): string =>
  readings.map(({ lane: of, cap }) => (cap === undefined ? of.name : `${of.name} cap ${String(cap)}`)).join(', ')

const anyLane = fc.constantFrom(...LANES)
const anyReadings = fc
  .shuffledSubarray(LANES, { minLength: 1 })
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
/** Mostly few, and sometimes more than what one lane gives at once. */
const anyPlaces = fc.oneof(
  { arbitrary: fc.subarray([0, 1, 2, 3], { minLength: 1 }), weight: 3 },
  { arbitrary: fc.integer({ min: 9, max: 20 }).map((count) => Array.from({ length: count }, (_, n) => n)), weight: 1 },
)
const anySlots = fc
  .tuple(fc.constantFrom(...WORKERS), anyPlaces)
  .map(([workerId, indices]) => ({ workerId, slots: indices.map((index) => `${workerId}-slot-${String(index)}`) }))
const anyClaim = fc.nat({ max: 40 })

const stepWithClaim = (
  name: string,
  { index, ...more }: { readonly index: number },
  act: (side: Side, claim: Claim) => Promise<unknown>,
): LaneStep =>
  namedStep(name, { index, ...more }, async (side) => {
    const claim = side.claims[index % Math.max(1, side.claims.length)]
    return claim ? act(side, claim) : undefined
  })

const enqueue = fc
  .record({ of: anyLane, id: fc.nat({ max: 99 }), isDelayed: fc.boolean() })
  .map(({ of, id, isDelayed: mayBeDelayed }) => {
    const isDelayed = mayBeDelayed && id % 5 === 0
    return namedStep<Side>('enqueue', { of: of.name, id, isDelayed }, async ({ harness: { port, ask, now } }) => {
      const notBefore = isDelayed ? (await now()) + AGES : 0
      return ask(port.enqueue({ taskId: String(id), lane: of, notBefore }))
    })
  })

const enqueueMany = fc.record({ of: anyLane, count: fc.integer({ min: 2, max: 15 }) }).map(({ of, count }) =>
  namedStep<Side>('enqueueMany', { of: of.name, count }, async ({ harness: { port, ask } }) => {
    for (let n = 0; n < count; n++) await ask(port.enqueue({ taskId: `many-${String(n)}`, lane: of, notBefore: 0 }))
  }),
)

const read = fc.tuple(anySlots, anyReadings, fc.boolean()).map(([asker, readings, isFlowing]) =>
  namedStep<Side>(
    'read',
    { ...asker, of: toldReadings(readings), isFlowing },
    async ({ harness: { port, ask }, claims }) => {
      const reply = await ask(port.read({ ...asker, lanes: readings, isFlowing }))
      claims.push(...reply.claims)
      return { ...reply, claims: reply.claims.map(told) }
    },
  ),
)

const sweep = fc
  .tuple(anySlots, anyReadings, fc.boolean(), fc.boolean(), fc.boolean())
  .map(([asker, readings, isEager, isBusy, isUnanswered]) =>
    namedStep<Side>(
      'sweep',
      { ...asker, of: toldReadings(readings), isEager, isBusy, isUnanswered },
      async ({ harness: { port, ask }, claims }) => {
        // With a visibility of 0 everything is stale at once, and with ages nothing is.
        const visibilityTimeoutMs = isEager ? 0 : AGES
        const stale = readings.map(({ lane: of }) => ({ lane: of, visibilityTimeoutMs }))
        const working = isBusy ? claims.filter((_, index) => index % 2 === 0) : []
        const reply = await ask(port.sweep({ ...asker, lanes: stale, working, isUnanswered }))
        claims.push(...reply.claims)
        return { claims: reply.claims.map(told), isDueNow: reply.nextStaleMs === 0, positions: [...reply.positions] }
      },
    ),
  )

const settle = fc
  .record({ index: anyClaim, kind: fc.constantFrom('done', 'requeue', 'delay') })
  .map(({ index, kind }) =>
    stepWithClaim(`settle as ${kind}`, { index }, ({ harness: { port, ask } }, claim) =>
      ask(
        port.settle(
          claim,
          kind === 'done' ? { kind } : { kind: 'requeue', ...(kind === 'delay' && { delayMs: AGES }) },
        ),
      ),
    ),
  )

const handBack = anyClaim.map((index) =>
  stepWithClaim('handBack', { index }, ({ harness: { port, ask } }, claim) => ask(port.handBack([claim]))),
)

const deleteEntry = anyClaim.map((index) =>
  stepWithClaim('deleteEntry', { index }, ({ harness }, claim) => harness.deleteEntry(claim.lane, claim.entryId)),
)

const extend = fc.constant(
  namedStep<Side>('extend', {}, ({ harness: { port, ask }, claims }) => ask(port.extend(claims))),
)

const promote = fc.constantFrom(...WORKERS).map((promoterId) =>
  namedStep<Side>('promote', { promoterId }, async ({ harness: { port, ask } }) => {
    const reply = await ask(port.promote({ promoterId, roleMs: AGES, limit: 5 }))
    return { ...reply, nextDueMs: reply.nextDueMs !== undefined }
  }),
)

const retire = fc
  .tuple(anySlots, fc.boolean())
  .map(([{ workerId, slots }, withRole]) =>
    namedStep<Side>('retire', { workerId, slots, withRole }, ({ harness: { port, ask } }) =>
      ask(port.retire({ ...(withRole && { workerId }), slots, lanes: LANES, goneMs: 0 })),
    ),
  )

const pause = fc
  .tuple(fc.option(anyLane, { freq: 5 }), fc.constantFrom('pause', 'resume'))
  .map(([of, change]) => namedStep<Side>(change, { of: of?.name }, ({ harness }) => harness[change](of ?? undefined)))

const destroyGroup = anyLane.map((of) =>
  namedStep<Side>('destroyGroup', { of: of.name }, async ({ harness }) => {
    if ((await harness.length(of)) > 0) await harness.destroyGroup(of)
  }),
)

/** What workers, and whoever else has access, may do to lanes. */
export const anyLaneSteps: fc.Arbitrary<LaneStep[]> = fc.array(
  fc.oneof(
    { arbitrary: enqueue, weight: 8 },
    { arbitrary: enqueueMany, weight: 2 },
    { arbitrary: read, weight: 8 },
    { arbitrary: settle, weight: 6 },
    { arbitrary: sweep, weight: 3 },
    { arbitrary: fc.oneof(handBack, extend, promote, retire, pause, deleteEntry, destroyGroup), weight: 5 },
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
)
