import { describe, expect, it } from 'vitest'

import { claimOne, mail, type MakeHarness, read, reading, scan, slotsOf } from './harness.js'

export const retireSuite = (makeHarness: MakeHarness): void => {
  describe('retire', () => {
    it('removes the given consumers from the lanes', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await ask(port.settle(await claimOne(harness), { kind: 'done' }))
      await ask(port.settle(await claimOne(harness, { worker: 'v' }), { kind: 'done' }))

      await ask(port.retire({ slots: slotsOf('w', 2), lanes: [mail], goneMs: 0 }))

      expect(await harness.consumers(mail)).toEqual(['v-slot-0'])
    })

    it('leaves a consumer that has something pending', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const claim = await claimOne(harness)

      await ask(port.retire({ slots: slotsOf('w', 1), lanes: [mail], goneMs: 0 }))

      expect(await harness.consumers(mail)).toEqual(['w-slot-0'])
      expect(await ask(port.settle(claim, { kind: 'done' }))).toBe('settled')
    })

    it('removes consumers that are gone, and none if 0 is given', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await ask(port.settle(await claimOne(harness), { kind: 'done' }))
      await claimOne(harness, { worker: 'busy' })
      await harness.advance(200)
      await ask(port.settle(await claimOne(harness, { worker: 'lively' }), { kind: 'done' }))

      await ask(port.retire({ slots: [], lanes: [mail], goneMs: 0 }))
      expect([...(await harness.consumers(mail))].sort()).toEqual(['busy-slot-0', 'lively-slot-0', 'w-slot-0'])

      await ask(port.retire({ slots: [], lanes: [mail], goneMs: 60_000 }))
      expect(await harness.consumers(mail)).toHaveLength(3)

      await ask(port.retire({ slots: [], lanes: [mail], goneMs: 150 }))
      expect(await harness.consumers(mail)).not.toContain('w-slot-0')
      expect(await harness.consumers(mail)).toContain('busy-slot-0')
    })

    it('does nothing where the lane or its group is missing', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await read(harness)
      await harness.destroyGroup(mail)

      await ask(port.retire({ slots: slotsOf('w', 1), lanes: [mail, scan], goneMs: 100 }))

      expect(await ask(port.read({ workerId: 'w', slots: slotsOf('w', 1), lanes: [reading(mail)] }))).toMatchObject({
        claims: [],
      })
    })

    it("gives the promoter's role back", async () => {
      const { port, ask } = await makeHarness()
      const asking = { roleMs: 60_000, limit: 1 }
      await ask(port.promote({ promoterId: 'w', ...asking }))

      await ask(port.retire({ slots: [], lanes: [], goneMs: 0 }))
      await ask(port.retire({ workerId: 'v', slots: [], lanes: [], goneMs: 0 }))
      expect(await ask(port.promote({ promoterId: 'v', ...asking }))).toMatchObject({ isPromoter: false })

      await ask(port.retire({ workerId: 'w', slots: [], lanes: [], goneMs: 0 }))
      expect(await ask(port.promote({ promoterId: 'v', ...asking }))).toMatchObject({ isPromoter: true })
    })
  })
}
