import { describe, expect, it } from 'vitest'

import type { LaneReading, SweepReply, SweepRequest } from '../../../src/index.js'
import {
  AGES,
  claimOne,
  fill,
  type LanePortHarness,
  mail,
  type MakeHarness,
  read,
  reading,
  scan,
  slotsOf,
  taskIds,
} from './harness.js'

/** A visibility that ends within a test. */
const SOON = 150

const soon = reading(mail, { visibilityTimeoutMs: SOON })

const sweep = (
  { port, ask }: LanePortHarness,
  options: { worker?: string; slots?: string[]; lanes?: LaneReading[] } & Pick<
    SweepRequest,
    'positions' | 'working' | 'isUnanswered'
  > = {},
): Promise<SweepReply> => {
  const { worker = 'w', slots = slotsOf(worker, 1), lanes = [soon], ...more } = options
  return ask(port.sweep({ workerId: worker, slots, lanes, ...more }))
}

export const sweepSuite = (makeHarness: MakeHarness): void => {
  describe('sweep', () => {
    it('spares what is younger than the visibility, and tells when it could become stale', async () => {
      const harness = await makeHarness()
      const before = await harness.now()
      await claimOne(harness, { worker: 'dead' })
      const claimed = await harness.now()
      await harness.advance(50)

      const from = await harness.now()
      const reply = await sweep(harness, { lanes: [reading(mail)] })
      const to = await harness.now()

      expect(reply.claims).toEqual([])
      expect(reply.nextStaleMs).toBeGreaterThanOrEqual(AGES - (to - before))
      expect(reply.nextStaleMs).toBeLessThanOrEqual(AGES - (from - claimed))
    })

    it('tells the shortest visibility when nothing is pending', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a')

      const lanes = [reading(mail), reading(scan, { visibilityTimeoutMs: 700 })]
      expect(await sweep(harness, { lanes })).toMatchObject({ claims: [], nextStaleMs: 700 })
    })

    it('takes over what its owner left idle, as a further delivery', async () => {
      const harness = await makeHarness()
      const { entryId } = await claimOne(harness, { worker: 'dead' })
      await harness.advance(SOON)

      const { claims } = await sweep(harness)

      expect(claims).toEqual([
        {
          taskId: 'a',
          lane: mail,
          entryId,
          slot: 'w-slot-0',
          consumer: 'w-slot-0',
          workerId: 'w',
          deliveryCount: 2,
          visibilityTimeoutMs: SOON,
          isCapped: false,
        },
      ])
      expect(await harness.pending(mail)).toEqual([{ entryId, consumer: 'w-slot-0', deliveryCount: 2 }])
    })

    it('starts the idle time anew with each take-over', async () => {
      const harness = await makeHarness()
      await claimOne(harness, { worker: 'dead' })
      await harness.advance(SOON)
      const before = await harness.now()
      await sweep(harness, { worker: 'dying' })

      const { claims, nextStaleMs } = await sweep(harness, { lanes: [reading(mail)] })
      expect(claims).toEqual([])
      expect(nextStaleMs).toBeGreaterThanOrEqual(AGES - ((await harness.now()) - before))

      await harness.advance(SOON)
      const [third] = (await sweep(harness)).claims
      expect(third).toMatchObject({ slot: 'w-slot-0', deliveryCount: 3 })
    })

    it('brings one entry a slot at most, oldest first, and wants to be asked again for the rest', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b', 'c')
      await read(harness, { worker: 'dead', slots: 3 })
      await harness.advance(SOON)

      const first = await sweep(harness, { slots: slotsOf('w', 2) })
      expect(taskIds(first.claims)).toEqual(['a', 'b'])
      expect(first.claims.map(({ slot }) => slot)).toEqual(['w-slot-0', 'w-slot-1'])
      expect(first.nextStaleMs).toBe(0)

      const second = await sweep(harness, { slots: slotsOf('w', 1, 2) })
      expect(taskIds(second.claims)).toEqual(['c'])
    })

    it('finds stale entries in each of the lanes', async () => {
      const harness = await makeHarness()
      await claimOne(harness, { worker: 'dead', taskId: 'm' })
      await claimOne(harness, { worker: 'dead', taskId: 's', lanes: [reading(scan)] })
      await harness.advance(SOON)

      const lanes = [soon, reading(scan, { visibilityTimeoutMs: SOON })]
      const { claims } = await sweep(harness, { slots: slotsOf('w', 2), lanes })

      expect(claims.map(({ taskId, lane }) => [taskId, lane])).toEqual([
        ['m', mail],
        ['s', scan],
      ])
    })

    it('leaves the busy slots of the asker alone', async () => {
      const harness = await makeHarness()
      await claimOne(harness)
      await harness.advance(SOON)

      expect((await sweep(harness, { slots: ['w-slot-1'] })).claims).toEqual([])
      expect(await harness.pending(mail)).toMatchObject([{ consumer: 'w-slot-0', deliveryCount: 1 }])
    })

    it('takes at once what its free slots have that it does not work on, if a read was not answered', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b', 'c', 'd')
      const [a] = await read(harness, { slots: 1 })
      await harness.ask(harness.port.read({ workerId: 'w', slots: slotsOf('w', 2), lanes: [reading(mail)] }))
      await read(harness, { worker: 'v' })
      const working = a ? [a] : []
      const asking = { slots: slotsOf('w', 3), lanes: [reading(mail)], working }
      expect(await sweep(harness, asking)).toMatchObject({ claims: [] })
      expect(await sweep(harness, { ...asking, slots: slotsOf('w', 1, 2), isUnanswered: true })).toMatchObject({
        claims: [],
      })

      const { claims } = await sweep(harness, { ...asking, isUnanswered: true })

      expect(claims.map(({ taskId, deliveryCount }) => [taskId, deliveryCount])).toEqual([
        ['b', 2],
        ['c', 2],
      ])
      expect(await sweep(harness, { ...asking, working: [...working, ...claims], isUnanswered: true })).toMatchObject({
        claims: [],
      })
    })

    it('leaves alone what the asker works on, whichever of its slots has read it', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b', 'c')
      await fill(harness, scan, 's')
      const [, b] = await read(harness, { slots: 3 })
      const [s] = await read(harness, { lanes: [reading(scan)] })
      await harness.advance(SOON)

      const working = [b, s].filter((claim) => claim !== undefined)
      const lanes = [reading(scan, { visibilityTimeoutMs: SOON }), soon]
      const { claims, nextStaleMs } = await sweep(harness, { slots: slotsOf('w', 3), lanes, working })
      expect(taskIds(claims)).toEqual(['a', 'c'])
      expect(nextStaleMs).toBeGreaterThan(0)

      const others = await sweep(harness, { worker: 'v', slots: slotsOf('v', 2), lanes, working: [] })
      expect(taskIds(others.claims)).toEqual(['s', 'b'])
    })

    it('takes over from a worker that is called like a slot of the asker', async () => {
      const harness = await makeHarness()
      await claimOne(harness, { worker: 'w-slot-0', lanes: [soon] })
      await harness.advance(SOON)

      expect(taskIds((await sweep(harness, { slots: ['w-slot-1'] })).claims)).toEqual(['a'])
    })

    it('takes back what a free slot of the asker has left behind', async () => {
      const harness = await makeHarness()
      await claimOne(harness)
      await harness.advance(SOON)

      expect((await sweep(harness)).claims).toMatchObject([{ slot: 'w-slot-0', deliveryCount: 2 }])
    })

    it('clears away entries that were deleted while they were pending', async () => {
      const harness = await makeHarness()
      const deleted = await claimOne(harness, { worker: 'dead', taskId: 'a' })
      await fill(harness, mail, 'b')
      await harness.ask(harness.port.read({ workerId: 'dead', slots: ['dead-slot-1'], lanes: [reading(mail)] }))
      await harness.deleteEntry(mail, deleted.entryId)
      await harness.advance(SOON)

      expect(taskIds((await sweep(harness)).claims)).toEqual(['b'])
      expect(await harness.pending(mail)).toHaveLength(1)
    })

    it('finds a stale entry behind 150 healthy ones', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const visibilityTimeoutMs = 400
      await fill(harness, mail, ...Array.from({ length: 151 }, (_, index) => String(index)))
      const healthy = await read(harness, { worker: 'alive', slots: 150 })
      await read(harness, { worker: 'dead' })
      await harness.advance(visibilityTimeoutMs)
      await ask(port.extend(healthy))

      const { claims } = await sweep(harness, { lanes: [reading(mail, { visibilityTimeoutMs })] })

      expect(taskIds(claims)).toEqual(['150'])
    })

    it('goes on where the last sweep stopped when there are more than one sweep looks at', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const count = 1_050
      await Promise.all(
        Array.from({ length: count }, (_, index) => ask(port.enqueue({ taskId: String(index), lane: mail }))),
      )
      await ask(port.read({ workerId: 'w', slots: slotsOf('w', count), lanes: [reading(mail)] }))
      await claimOne(harness, { worker: 'dead', taskId: 'last' })
      await harness.advance(SOON)
      const slots = slotsOf('w', 1, count)

      const first = await sweep(harness, { slots })
      expect(first.claims).toEqual([])
      expect(first.positions.get(mail.name)).not.toBe('-')

      const second = await sweep(harness, { slots, positions: first.positions })
      expect(taskIds(second.claims)).toEqual(['last'])
      expect([...second.positions]).toEqual([[mail.name, '-']])
    })

    it('claims nothing from a paused lane, and wants to be asked again in a while', async () => {
      const harness = await makeHarness()
      await claimOne(harness, { worker: 'dead' })
      await harness.advance(SOON)
      await harness.pause(mail)

      const reply = await sweep(harness)
      expect(reply.claims).toEqual([])
      expect(reply.nextStaleMs).toBeGreaterThan(0)

      await harness.resume(mail)
      expect(taskIds((await sweep(harness)).claims)).toEqual(['a'])
    })

    it('finds nothing where the group or the lane is missing', async () => {
      const harness = await makeHarness()
      await claimOne(harness, { worker: 'dead' })
      await harness.destroyGroup(mail)

      const lanes = [soon, reading(scan, { visibilityTimeoutMs: SOON })]
      expect(await sweep(harness, { lanes })).toMatchObject({ claims: [], nextStaleMs: SOON })
    })

    it('answers without lanes', async () => {
      const harness = await makeHarness()

      expect(await sweep(harness, { lanes: [] })).toEqual({ claims: [], nextStaleMs: 0, positions: new Map() })
    })
  })
}
