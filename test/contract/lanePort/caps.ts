import { describe, expect, it } from 'vitest'

import { type Claim, lane, type LanePort, type LaneReading, type ReadReply } from '../../../src/index.js'
import {
  claimOne,
  fill,
  type LanePortHarness,
  mail,
  type MakeHarness,
  reading,
  scan,
  slotsOf,
  taskIds,
} from './harness.js'

const SOON = 150
const capped = (overrides: Partial<LaneReading> = {}): LaneReading => reading(mail, { cap: 1, ...overrides })

const ask = ({ port, ask }: LanePortHarness, lanes: LaneReading[] = [capped()], slots = 3): Promise<ReadReply> =>
  ask(port.read({ workerId: 'w', slots: slotsOf('w', slots), lanes }))

type Ending = (port: LanePort, claim: Claim) => ReturnType<LanePort['settle'] | LanePort['handBack']>

const endings: [string, Ending][] = [
  ['settled', (port, claim) => port.settle(claim, { kind: 'done' })],
  ['put back', (port, claim) => port.settle(claim, { kind: 'requeue' })],
  ['put back for later', (port, claim) => port.settle(claim, { kind: 'requeue', delayMs: 30_000 })],
  ['handed back', (port, claim) => port.handBack([claim])],
]

export const capSuite = (makeHarness: MakeHarness): void => {
  describe('cap', () => {
    it('is never exceeded, and a lane at its cap is named', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b', 'c')

      const first = await ask(harness, [capped({ cap: 2 })])
      expect(first.claims).toMatchObject([
        { taskId: 'a', isCapped: true },
        { taskId: 'b', isCapped: true },
      ])
      expect(first.full).toEqual([mail])

      const second = await ask(harness, [capped({ cap: 2 })])
      expect(second).toMatchObject({ claims: [], full: [mail] })
    })

    it('does not name a lane that has run empty below its cap', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a')

      expect(await ask(harness, [capped({ cap: 2 })])).toMatchObject({ full: [] })
    })

    it('is shared by the lanes of a type, and by no others', async () => {
      const harness = await makeHarness()
      const lanes = [mail, lane('mail', 2), lane('mail', 1, ['eu'])].map((of) => reading(of, { cap: 2 }))
      for (const [index, { lane: of }] of lanes.entries()) await fill(harness, of, `m${String(index)}`)
      await fill(harness, scan, 's0', 's1')

      const { claims, full } = await ask(harness, [...lanes, reading(scan, { cap: 1 })], 9)

      expect(taskIds(claims)).toEqual(['m0', 'm1', 's0'])
      expect(full).toContainEqual(lane('mail', 1, ['eu']))
      expect(full).toContainEqual(scan)
    })

    it('does not hold back a lane without one', async () => {
      const harness = await makeHarness()
      await fill(harness, mail, 'a', 'b')
      await fill(harness, scan, 'c', 'd')

      const { claims } = await ask(harness, [capped(), reading(scan)])

      expect(taskIds(claims)).toEqual(['a', 'c', 'd'])
    })

    it.each(endings)('frees the place of a claim that is %s', async (_, work) => {
      const harness = await makeHarness()
      const claim = await claimOne(harness, { lanes: [capped()] })
      await fill(harness, mail, 'b')
      expect((await ask(harness)).claims).toEqual([])

      await harness.ask<unknown>(work(harness.port, claim))

      expect(taskIds((await ask(harness)).claims)).toEqual(['b'])
    })

    it('frees nothing for a late owner', async () => {
      const harness = await makeHarness()
      const { port } = harness
      const late = await claimOne(harness, { worker: 'late', lanes: [capped()] })
      await fill(harness, mail, 'b')
      await harness.advance(SOON)
      const lanes = [capped({ visibilityTimeoutMs: SOON })]
      await harness.ask(port.sweep({ workerId: 'v', slots: slotsOf('v', 1), lanes }))

      expect(await harness.ask(port.settle(late, { kind: 'done' }))).toBe('lost')
    })

    it('lets a place expire with the visibility of its claim', async () => {
      const harness = await makeHarness()
      await claimOne(harness, { worker: 'dead', lanes: [capped({ visibilityTimeoutMs: SOON })] })
      await fill(harness, mail, 'b')
      await harness.advance(SOON + 10)

      expect(taskIds((await ask(harness)).claims)).toEqual(['b'])
    })

    it('renews the place with the claim', async () => {
      const harness = await makeHarness()
      const claim = await claimOne(harness, { lanes: [capped({ visibilityTimeoutMs: SOON })] })
      await fill(harness, mail, 'b')
      await harness.ask(harness.port.extend([{ ...claim, visibilityTimeoutMs: 60_000 }]))
      await harness.advance(SOON + 10)

      expect(await ask(harness)).toMatchObject({ claims: [], full: [mail] })
    })

    it('hands the place over to whoever takes over the claim', async () => {
      const harness = await makeHarness()
      const { port } = harness
      await claimOne(harness, { worker: 'dead', lanes: [capped()] })
      await fill(harness, mail, 'b')
      await harness.advance(SOON)

      const lanes = [capped({ visibilityTimeoutMs: SOON })]
      const sweep = { workerId: 'v', slots: slotsOf('v', 1), lanes }
      const { claims } = await harness.ask(port.sweep(sweep))
      expect(claims).toMatchObject([{ taskId: 'a', isCapped: true, deliveryCount: 2 }])
      await harness.ask(port.extend(claims.map((claim) => ({ ...claim, visibilityTimeoutMs: 60_000 }))))

      expect(await ask(harness)).toMatchObject({ claims: [], full: [mail] })
    })

    it('does not take over a claim whose place somebody else has by now, and wants to be asked again in a while', async () => {
      const harness = await makeHarness()
      const { port } = harness
      await claimOne(harness, { worker: 'dead', lanes: [capped({ visibilityTimeoutMs: SOON })] })
      await fill(harness, mail, 'b')
      await harness.advance(SOON + 10)
      const [other] = (await ask(harness)).claims

      const lanes = [capped({ visibilityTimeoutMs: SOON })]
      const sweep = { workerId: 'v', slots: slotsOf('v', 1), lanes }
      const reply = await harness.ask(port.sweep(sweep))
      expect(reply.claims).toEqual([])
      // Not at once: it is a place that is missing, not a slot.
      expect(reply.nextStaleMs).toBeGreaterThan(0)

      if (other) await harness.ask(port.settle(other, { kind: 'done' }))
      expect(taskIds((await harness.ask(port.sweep(sweep))).claims)).toEqual(['a'])
    })
  })
}
