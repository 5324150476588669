import { describe, expect, it } from 'vitest'

import { lane, type PromoteReply } from '../../../src/index.js'
import { fill, type LanePortHarness, mail, type MakeHarness, read, reading, scan, taskIds } from './harness.js'

const promote = (
  { port, ask }: LanePortHarness,
  { promoter = 'w', roleMs = 60_000, limit = 100 } = {},
): Promise<PromoteReply> => ask(port.promote({ promoterId: promoter, roleMs, limit }))

/** From now until parked tasks are due: long enough to park them before that on a slow machine. */
const SOON = 400

/** Parks tasks, each a millisecond after the last, from `now + inMs` on. */
const park = async (harness: LanePortHarness, inMs: number, ...taskIds: string[]): Promise<void> => {
  const { port, ask } = harness
  const from = (await harness.now()) + inMs
  for (const [index, taskId] of taskIds.entries())
    await ask(port.enqueue({ taskId, lane: mail, notBefore: from + index }))
}

export const scheduleSuite = (makeHarness: MakeHarness): void => {
  describe('enqueue', () => {
    it('keeps the order', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'c', 'a', 'b')

      expect(taskIds(await read(harness, { slots: 3 }))).toEqual(['c', 'a', 'b'])
    })

    it('makes two entries of a task that is enqueued twice', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'a')

      expect(taskIds(await read(harness, { slots: 3 }))).toEqual(['a', 'a'])
    })

    it('parks what is not due', async () => {
      const harness = await makeHarness()
      await park(harness, 30_000, 'a')

      expect(await harness.parked()).toBe(1)
      expect(await harness.length(mail)).toBe(0)
    })

    it('enqueues at once what is due already', async () => {
      const harness = await makeHarness()
      await park(harness, -1_000, 'a')

      expect(await harness.parked()).toBe(0)
      expect(taskIds(await read(harness))).toEqual(['a'])
    })

    it('makes two parked entries of a task that is parked twice', async () => {
      const harness = await makeHarness()
      await park(harness, SOON, 'a')
      await park(harness, SOON, 'a')
      expect(await harness.parked()).toBe(2)

      await harness.advance(SOON + 10)
      expect((await promote(harness)).moved).toBe(2)
      expect(taskIds(await read(harness, { slots: 3 }))).toEqual(['a', 'a'])
    })

    it('registers the lane', async () => {
      const harness = await makeHarness()
      const tagged = lane('render', 2, ['gpu', 'eu'])
      await fill(harness, mail, 'a', 'b')
      await fill(harness, tagged, 'c')

      const known = await harness.ask(harness.port.knownLanes())

      expect([...known].sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([mail, tagged])
    })

    it('knows no lanes at first', async () => {
      const { port, ask } = await makeHarness()

      expect(await ask(port.knownLanes())).toEqual([])
    })
  })

  describe('promote', () => {
    it('moves what is due, earliest first', async () => {
      const harness = await makeHarness()
      await park(harness, SOON, 'b')
      await park(harness, SOON / 2, 'a')
      await harness.advance(SOON + 10)

      const reply = await promote(harness)

      expect(reply).toEqual({ isPromoter: true, moved: 2, knownLanes: 1 })
      expect(await harness.parked()).toBe(0)
      expect(taskIds(await read(harness, { slots: 3 }))).toEqual(['a', 'b'])
    })

    it('moves nothing before it is due, and tells when that is', async () => {
      const harness = await makeHarness()
      const from = await harness.now()
      await park(harness, 150, 'a')
      await park(harness, 30_000, 'b')

      let reply = await promote(harness)
      while (reply.moved === 0) {
        expect(reply.nextDueMs).toBeGreaterThan(0)
        await harness.advance(reply.nextDueMs ?? 0)
        reply = await promote(harness)
      }

      const to = await harness.now()
      expect(to - from).toBeGreaterThanOrEqual(150)
      expect(reply.nextDueMs).toBeLessThanOrEqual(30_000)
      expect(reply.nextDueMs).toBeGreaterThanOrEqual(30_000 - (to - from))
      expect(taskIds(await read(harness, { slots: 2 }))).toEqual(['a'])
    })

    it('moves no more than the limit, and wants to be asked again at once for the rest', async () => {
      const harness = await makeHarness()
      await park(harness, SOON, 'a', 'b', 'c')
      await harness.advance(SOON + 10)

      expect(await promote(harness, { limit: 2 })).toMatchObject({ moved: 2, nextDueMs: 0 })
      expect(await promote(harness, { limit: 2 })).toEqual({ isPromoter: true, moved: 1, knownLanes: 1 })
    })

    it('tells nothing of a next one when nothing is parked', async () => {
      const harness = await makeHarness()

      expect(await promote(harness)).toEqual({ isPromoter: true, moved: 0, knownLanes: 0 })
    })

    it('moves tasks of tagged lanes to their lane', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const tagged = lane('mail', 1, ['eu'])
      await ask(port.enqueue({ taskId: 'a', lane: tagged, notBefore: (await harness.now()) + SOON }))
      await harness.advance(SOON + 10)
      await promote(harness)

      expect(await read(harness)).toEqual([])
      expect(await read(harness, { lanes: [reading(tagged)] })).toMatchObject([{ taskId: 'a', lane: tagged }])
    })

    it('is done by one: the others are told to wait', async () => {
      const harness = await makeHarness()
      await park(harness, SOON, 'a')
      await promote(harness, { promoter: 'v' })
      await harness.advance(SOON + 10)

      expect(await promote(harness, { promoter: 'w' })).toEqual({ isPromoter: false, moved: 0, knownLanes: 0 })
      expect(await harness.parked()).toBe(1)

      expect(await promote(harness, { promoter: 'v' })).toMatchObject({ isPromoter: true, moved: 1 })
    })

    it('passes on when its holder stops asking', async () => {
      const harness = await makeHarness()
      await promote(harness, { promoter: 'v', roleMs: 150 })
      await harness.advance(160)

      expect(await promote(harness, { promoter: 'w' })).toMatchObject({ isPromoter: true })
      expect(await promote(harness, { promoter: 'v' })).toMatchObject({ isPromoter: false })
    })

    it('is taken over by whoever has heard the bell', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await promote(harness, { promoter: 'v' })
      const request = { promoterId: 'w', roleMs: 60_000, limit: 100 }

      expect(await ask(port.promote({ ...request, takeOver: true }))).toMatchObject({ isPromoter: true })
      expect(await promote(harness, { promoter: 'v' })).toMatchObject({ isPromoter: false })
    })

    it('stays with a holder that asks again', async () => {
      const harness = await makeHarness()
      await promote(harness, { promoter: 'v', roleMs: 150 })
      await promote(harness, { promoter: 'v', roleMs: 60_000 })
      await harness.advance(160)

      expect(await promote(harness, { promoter: 'w' })).toMatchObject({ isPromoter: false })
    })
  })

  describe('lease', () => {
    it('belongs to the first that proposes', async () => {
      const { port, ask } = await makeHarness()

      expect(await ask(port.lease({ type: 'mail', key: 'k', taskId: 'a' }))).toBe('a')
      expect(await ask(port.lease({ type: 'mail', key: 'k', taskId: 'b' }))).toBe('a')
      expect(await ask(port.lease({ type: 'mail', key: 'k', taskId: 'a' }))).toBe('a')
    })

    it('is one a type and key, whatever characters they hold', async () => {
      const { port, ask } = await makeHarness()
      await ask(port.lease({ type: 'mail', key: 'k', taskId: 'a' }))

      expect(await ask(port.lease({ type: 'mail', key: 'other', taskId: 'b' }))).toBe('b')
      expect(await ask(port.lease({ type: scan.type, key: 'k', taskId: 'c' }))).toBe('c')
      expect(await ask(port.lease({ type: 'mail:k', key: 'l', taskId: 'd' }))).toBe('d')
      expect(await ask(port.lease({ type: 'mail', key: 'k:l', taskId: 'e' }))).toBe('e')
    })

    it('ends', async () => {
      const harness = await makeHarness({ idempotencyTtlSec: 1 })
      const { port, ask } = harness
      await ask(port.lease({ type: 'mail', key: 'k', taskId: 'a' }))
      await harness.advance(1_050)

      expect(await ask(port.lease({ type: 'mail', key: 'k', taskId: 'b' }))).toBe('b')
    })
  })
}
