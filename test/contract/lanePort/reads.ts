import { describe, expect, it } from 'vitest'

import { lane } from '../../../src/index.js'
import { fill, mail, type MakeHarness, read, reading, scan, slotsOf, taskIds } from './harness.js'

export const readSuite = (makeHarness: MakeHarness): void => {
  describe('read', () => {
    it('claims an entry for the slot that asked', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a')

      const [claim] = await read(harness, { lanes: [reading(mail, { visibilityTimeoutMs: 5_000 })] })

      expect(claim).toEqual({
        taskId: 'a',
        lane: mail,
        entryId: expect.stringMatching(/^\d+-\d+$/) as string,
        slot: 'w-slot-0',
        consumer: 'w-slot-0',
        workerId: 'w',
        deliveryCount: 1,
        visibilityTimeoutMs: 5_000,
        isCapped: false,
      })
      expect(await harness.pending(mail)).toEqual([{ entryId: claim?.entryId, consumer: 'w-slot-0', deliveryCount: 1 }])
    })

    it('brings one entry a slot at most, oldest first', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b', 'c')

      const claims = await read(harness, { slots: 2 })

      expect(claims.map(({ taskId, slot }) => [taskId, slot])).toEqual([
        ['a', 'w-slot-0'],
        ['b', 'w-slot-1'],
      ])
      expect(await harness.pending(mail)).toHaveLength(2)
    })

    it('reads a lane for all slots at once, as the first of them', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b', 'c', 'd')
      await fill(harness, scan, 's')

      const claims = await read(harness, { slots: 5, lanes: [reading(mail), reading(scan)] })

      expect(claims.map(({ taskId, slot, consumer }) => [taskId, slot, consumer])).toEqual([
        ['a', 'w-slot-0', 'w-slot-0'],
        ['b', 'w-slot-1', 'w-slot-0'],
        ['s', 'w-slot-2', 'w-slot-2'],
        ['c', 'w-slot-3', 'w-slot-3'],
        ['d', 'w-slot-4', 'w-slot-3'],
      ])
      const pending = await harness.pending(mail)
      expect(pending.map(({ consumer }) => consumer)).toEqual(['w-slot-0', 'w-slot-0', 'w-slot-3', 'w-slot-3'])
    })

    it('reads some of many lanes for several slots at once where the last read gave all', async () => {
      const harness = await makeHarness()
      const lanes = Array.from({ length: 10 }, (_, n) => reading(lane(`many-${String(n)}`, 1)))
      for (const { lane: of } of lanes) await fill(harness, of, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')
      const { port, ask } = harness

      const request = { workerId: 'w', slots: slotsOf('w', 17), lanes }
      const given = async (isFlowing: boolean): Promise<number[]> => {
        const { claims } = await ask(port.read({ ...request, isFlowing }))
        return lanes.map(({ lane: { name } }) => claims.filter((claim) => claim.lane.name === name).length)
      }

      expect(await given(false)).toEqual([2, 2, 2, 2, 2, 2, 2, 1, 1, 1])
      expect(await given(true)).toEqual([6, 6, 5, 0, 0, 0, 0, 0, 0, 0])
    })

    it('brings fewer when there are fewer, and nothing from empty lanes', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a')

      expect(taskIds(await read(harness, { slots: 3 }))).toEqual(['a'])
      expect(await read(harness, { slots: 3 })).toEqual([])
    })

    it('hands out each entry once', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b', 'c')

      const first = await read(harness, { worker: 'v', slots: 2 })
      const second = await read(harness, { worker: 'w', slots: 2 })

      expect(taskIds([...first, ...second])).toEqual(['a', 'b', 'c'])
    })

    it('takes turns: each lane gives one before any gives a second', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'm1', 'm2', 'm3')
      await fill(harness, scan, 's1')

      const claims = await read(harness, { slots: 3, lanes: [reading(mail), reading(scan)] })

      expect(taskIds(claims)).toEqual(['m1', 's1', 'm2'])
      expect(claims.map(({ lane }) => lane)).toEqual([mail, scan, mail])
    })

    it('begins with the lane that is given first', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'm1')
      await fill(harness, scan, 's1')

      expect(taskIds(await read(harness, { lanes: [reading(scan), reading(mail)] }))).toEqual(['s1'])
    })

    it('reads no paused lane', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'm1')
      await fill(harness, scan, 's1')
      const lanes = [reading(mail), reading(scan)]

      await harness.pause(mail)
      expect(taskIds(await read(harness, { slots: 2, lanes }))).toEqual(['s1'])

      await harness.resume(mail)
      expect(taskIds(await read(harness, { slots: 2, lanes }))).toEqual(['m1'])
    })

    it('reads nothing while the fleet is paused', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a')

      await harness.pause()
      expect(await read(harness)).toEqual([])

      await harness.resume()
      expect(taskIds(await read(harness))).toEqual(['a'])
    })

    it('makes the group anew when it was lost, and delivers again what was not settled', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await fill(harness, mail, 'a', 'b', 'c')
      const [a] = await read(harness, { slots: 2 })
      if (a) await ask(port.settle(a, { kind: 'done' }))

      await harness.destroyGroup(mail)
      const claims = await read(harness, { worker: 'v', slots: 3 })

      expect(taskIds(claims)).toEqual(['b', 'c'])
      expect(claims.map(({ deliveryCount }) => deliveryCount)).toEqual([1, 1])
    })

    it('reads a lane that nobody has written to yet', async () => {
      const harness = await makeHarness()

      expect(await read(harness)).toEqual([])

      await fill(harness, mail, 'a')
      expect(taskIds(await read(harness))).toEqual(['a'])
    })

    it('passes over an entry that was deleted before anybody had it', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b')
      const [a] = await read(harness)
      await harness.destroyGroup(mail)
      await harness.deleteEntry(mail, a?.entryId ?? '')

      expect(taskIds(await read(harness, { slots: 2 }))).toEqual(['b'])
    })

    it('is cold: nothing happens before the subscription, and each subscription reads', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await fill(harness, mail, 'a', 'b')

      const reply$ = port.read({ workerId: 'w', slots: slotsOf('w', 1), lanes: [reading(mail)] })
      expect(await harness.pending(mail)).toEqual([])

      expect(taskIds((await ask(reply$)).claims)).toEqual(['a'])
      expect(taskIds((await ask(reply$)).claims)).toEqual(['b'])
    })

    it('is not taken back by unsubscribing', async () => {
      const harness = await makeHarness()
      const { port } = harness
      await fill(harness, mail, 'a')

      port
        .read({ workerId: 'w', slots: slotsOf('w', 1), lanes: [reading(mail)] })
        .subscribe()
        .unsubscribe()

      expect(await read(harness, { worker: 'v' })).toEqual([])
      expect(await harness.pending(mail)).toMatchObject([{ consumer: 'w-slot-0' }])
    })

    it('emits one reply and completes, with no slots as well', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a')
      const { port, ask } = harness

      const reply = await ask(port.read({ workerId: 'w', slots: [], lanes: [reading(mail)] }))

      expect(reply).toEqual({ claims: [], full: [] })
    })
  })
}
