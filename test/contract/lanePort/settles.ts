import { describe, expect, it } from 'vitest'

import type { Claim, Settlement } from '../../../src/index.js'
import { claimOne, fill, idleMs, mail, type MakeHarness, read, reading, slotsOf, taskIds } from './harness.js'

const impostors = (claim: Claim): [string, Claim][] => [
  ['another consumer', { ...claim, consumer: 'w-slot-9' }],
  ['an earlier delivery', { ...claim, deliveryCount: claim.deliveryCount - 1 }],
  ['a later delivery', { ...claim, deliveryCount: claim.deliveryCount + 1 }],
  ['another entry', { ...claim, entryId: '1-1' }],
]

export const settleSuite = (makeHarness: MakeHarness): void => {
  describe('settle', () => {
    it('removes the entry for good', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)

      expect(await ask(port.settle(claim, { kind: 'done' }))).toBe('settled')

      expect(await harness.length(mail)).toBe(0)
      expect(await harness.pending(mail)).toEqual([])
    })

    it('settles once', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)
      await ask(port.settle(claim, { kind: 'requeue' }))

      expect(await ask(port.settle(claim, { kind: 'requeue' }))).toBe('lost')
      expect(await harness.length(mail)).toBe(1)
    })

    it('puts a task back behind the others, as a new entry', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)
      await fill(harness, mail, 'b')

      expect(await ask(port.settle(claim, { kind: 'requeue' }))).toBe('settled')

      const claims = await read(harness, { slots: 2 })
      expect(claims).toMatchObject([{ taskId: 'b' }, { taskId: 'a', deliveryCount: 1 }])
      expect(await harness.length(mail)).toBe(2)
    })

    it('parks a task that is put back for later', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)
      const from = await harness.now()

      await ask(port.settle(claim, { kind: 'requeue', delayMs: 30_000 }))

      expect(await harness.length(mail)).toBe(0)
      expect(await harness.parked()).toBe(1)
      const { nextDueMs = -1 } = await ask(port.promote({ promoterId: 'w', roleMs: 100, limit: 10 }))
      expect(nextDueMs).toBeLessThanOrEqual(30_000)
      expect(nextDueMs).toBeGreaterThanOrEqual(30_000 - ((await harness.now()) - from))
    })

    it('puts back by a point in time: parked before it, at once after it', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await fill(harness, mail, 'late', 'early')
      const [late, early] = await read(harness, { slots: 2 })
      if (!late || !early) throw new Error('nothing claimed')
      const now = await harness.now()

      await ask(port.settle(late, { kind: 'requeue', notBefore: now + 30_000 }))
      await ask(port.settle(early, { kind: 'requeue', notBefore: now - 1 }))

      expect(await harness.parked()).toBe(1)
      expect(taskIds(await read(harness, { slots: 2 }))).toEqual(['early'])
    })

    it.each<Settlement>([{ kind: 'done' }, { kind: 'requeue' }, { kind: 'requeue', delayMs: 30_000 }])(
      'changes nothing for somebody who does not own the delivery: %o',
      async (settlement) => {
        const harness = await makeHarness()
        const { port, ask } = harness
        const claim = await claimOne(harness)
        const before = await harness.pending(mail)

        for (const [who, impostor] of impostors(claim))
          expect(await ask(port.settle(impostor, settlement)), who).toBe('lost')

        expect(await harness.pending(mail)).toEqual(before)
        expect(await harness.length(mail)).toBe(1)
        expect(await harness.parked()).toBe(0)
      },
    )

    it('tells the owner of a claim that was taken over that it is lost, and the new owner that it is settled', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const late = await claimOne(harness, { worker: 'late' })
      await harness.advance(150)
      const request = { workerId: 'w', slots: slotsOf('w', 1), lanes: [reading(mail, { visibilityTimeoutMs: 150 })] }
      const [claim] = (await ask(port.sweep(request))).claims
      if (!claim) throw new Error('nothing swept')

      expect(await ask(port.settle(late, { kind: 'done' }))).toBe('lost')
      expect(await ask(port.settle(claim, { kind: 'done' }))).toBe('settled')
    })

    it('is lost together with the group', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)
      await harness.destroyGroup(mail)

      expect(await ask(port.settle(claim, { kind: 'done' }))).toBe('lost')
      expect(await harness.length(mail)).toBe(1)
    })
  })

  describe('extend', () => {
    it('starts the idle time anew, and counts no delivery', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)
      await harness.advance(150)
      const from = await harness.now()

      expect(await ask(port.extend([claim]))).toEqual([true])

      expect(await idleMs(harness, mail)).toBeLessThanOrEqual((await harness.now()) - from)
      expect(await harness.pending(mail)).toMatchObject([{ consumer: 'w-slot-0', deliveryCount: 1 }])
    })

    it('tells for each claim whether it is still ours, and leaves those of others alone', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)
      const claimed = await harness.now()
      await harness.advance(100)

      const others = impostors(claim).map(([, impostor]) => impostor)
      expect(await ask(port.extend(others))).toEqual([false, false, false, false])
      const from = await harness.now()
      expect(await idleMs(harness, mail)).toBeGreaterThanOrEqual(from - claimed)

      expect(await ask(port.extend([...others, claim]))).toEqual([false, false, false, false, true])
    })

    it('renews claims of several lanes at once', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const lanes = [reading(mail), reading({ ...mail, name: 'mail:v2', handlerVersion: 2 })]
      const first = await claimOne(harness, { taskId: 'a', lanes: lanes.slice(0, 1) })
      const second = await claimOne(harness, { taskId: 'b', lanes: lanes.slice(1) })

      expect(await ask(port.extend([first, second]))).toEqual([true, true])
    })

    it('knows that a settled claim, or one whose group is gone, is lost', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const settled = await claimOne(harness, { taskId: 'a' })
      await ask(port.settle(settled, { kind: 'done' }))
      const claim = await claimOne(harness, { taskId: 'b' })
      expect(await ask(port.extend([settled, claim]))).toEqual([false, true])

      await harness.destroyGroup(mail)
      expect(await ask(port.extend([claim]))).toEqual([false])
    })

    it('answers an empty list with one', async () => {
      const { port, ask } = await makeHarness()

      expect(await ask(port.extend([]))).toEqual([])
    })
  })

  describe('handBack', () => {
    it('lets claims run elsewhere at once, as if they had never been taken', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await fill(harness, mail, 'a', 'b')
      const claims = await read(harness, { slots: 2 })

      await ask(port.handBack(claims))

      expect(await harness.pending(mail)).toEqual([])
      const again = await read(harness, { worker: 'v', slots: 3 })
      expect(taskIds(again).sort()).toEqual(['a', 'b'])
      expect(again.map(({ deliveryCount }) => deliveryCount)).toEqual([1, 1])
      expect(await harness.length(mail)).toBe(2)
    })

    it('leaves alone what is no longer ours', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)

      await ask(port.handBack(impostors(claim).map(([, impostor]) => impostor)))

      expect(await harness.pending(mail)).toMatchObject([{ entryId: claim.entryId, consumer: 'w-slot-0' }])
      expect(await harness.length(mail)).toBe(1)
    })

    it('does nothing with nothing', async () => {
      const { port, ask } = await makeHarness()

      expect(await ask(port.handBack([]))).toBeUndefined()
    })
  })
}
