import { describe, expect, it } from 'vitest'

import { lane, type LaneReading } from '../../../src/index.js'
import { virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'
import { at, fill, numbered, runFor, taskIdsOf, watched, workerOn } from './workers.js'

const [mail, scan, zip] = [lane('mail', 1), lane('scan', 1), lane('zip', 1)]
const reading = (of: typeof mail, visibilityTimeoutMs = 60_000): LaneReading => ({ lane: of, visibilityTimeoutMs })

describe.each([0, 2])('workLanes, over lanes that answer within %d ms', (latencyMs) => {
  it('works through what is there, as many at once as it has slots', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, mail, ...numbered('m', 5))
      const { task$, log } = workerOn(port, { slots: 2 })

      expect(taskIdsOf(runFor(500, flush, task$))).toEqual(numbered('m', 5))

      expect(log.most).toBe(2)
      expect([port.pending(), port.length(mail)]).toEqual([[], 0])
      expect(log.events).toEqual([])
    })
  })

  it('never holds more claims than slots, and starts each at once', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, mail, ...numbered('m', 100))
      const { task$, log } = workerOn(port, { slots: 3, workMs: 7 })
      const pending = watched(200, () => port.pending().length)

      runFor(200, flush, task$)

      expect(Math.max(...pending)).toBe(3)
      expect(log.started.length).toBeGreaterThan(50)
    })
  })

  it('starves no lane: three lanes, two slots', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, mail, ...numbered('m', 50))
      fill(port, scan, ...numbered('s', 50))
      fill(port, zip, ...numbered('z', 3))
      const { task$ } = workerOn(port, { slots: 2, types: ['mail', 'scan', 'zip'] })

      const first = taskIdsOf(runFor(500, flush, task$)).slice(0, 10)

      for (const prefix of ['m', 's', 'z'])
        expect(first.filter((taskId) => taskId.startsWith(prefix)).length).toBeGreaterThanOrEqual(3)
    })
  })

  it('is woken by the bell, whenever it rings', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      const { task$, log } = workerOn(port)
      for (const ms of [57, 333, 1_234, 5_001]) at(ms, () => port.enqueue({ taskId: String(ms), lane: mail }))

      runFor(6_000, flush, task$)

      expect(log.started).toHaveLength(4)
      // The bell brings the entry: one round trip.
      for (const [taskId, atMs] of log.started) expect(atMs - Number(taskId)).toBe(latencyMs)
    })
  })

  it('asks little while it is idle', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      const { task$ } = workerOn(port, { slots: 4, types: ['mail', 'scan', 'zip'] })

      runFor(60_000, flush, task$)

      const { listen, read, sweep, promote, knownLanes, retire } = port.calls
      expect(read.length).toBeLessThanOrEqual(5)
      expect(listen.length).toBeLessThanOrEqual(65)
      expect(sweep.length).toBeLessThanOrEqual(3)
      expect(promote.length).toBeLessThanOrEqual(125)
      expect(knownLanes.length).toBeLessThanOrEqual(2)
      expect(retire.length).toBeLessThanOrEqual(2)
    })
  })

  it('takes over the claims of a dead worker when their visibility has ended', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, mail, ...numbered('m', 3))
      port.read({ workerId: 'dead', slots: numbered('dead-slot-', 3), lanes: [reading(mail)] }).subscribe()
      const { task$, log } = workerOn(port, { slots: 3, visibilityTimeoutMs: 700 })

      runFor(2_000, flush, task$)

      expect(log.started.map(([taskId]) => taskId)).toEqual(numbered('m', 3))
      for (const [, atMs] of log.started) expect(atMs - 700).toBeLessThanOrEqual(3 * latencyMs)
      expect(port.pending()).toEqual([])
    })
  })

  it('does not mistake its own slow works for stale', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, mail, 'a')
      const { task$, log } = workerOn(port, { slots: 2, visibilityTimeoutMs: 200, workMs: 900 })

      expect(taskIdsOf(runFor(2_000, flush, task$))).toEqual(['a'])

      expect(log.started).toHaveLength(1)
      expect(port.length(mail)).toBe(0)
    })
  })

  it('does not mistake what one slot has read for another one for left behind', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, mail, 'a', 'b')
      const workMs = (taskId: string): number => (taskId === 'a' ? 10 : 900)
      const { task$, log } = workerOn(port, { slots: 2, visibilityTimeoutMs: 200, workMs })

      expect(taskIdsOf(runFor(2_000, flush, task$))).toEqual(['a', 'b'])

      expect(log.started).toHaveLength(2)
      expect(port.length(mail)).toBe(0)
    })
  })

  it('keeps a fleet below its cap, and takes up each place that is freed', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, mail, ...numbered('m', 12))
      const fleet = ['u', 'v', 'w'].map((workerId) => workerOn(port, { workerId, slots: 2, cap: 2, workMs: 50 }))
      const holders = watched(500, () => port.holders('mail'))

      const emitted = runFor(1_000, flush, ...fleet.map(({ task$ }) => task$))

      expect(Math.max(...holders)).toBe(2)
      expect(taskIdsOf(emitted).sort()).toEqual(numbered('m', 12).sort())
      // Six rounds of two, each followed by the release, the bell, and the next claim.
      expect(emitted.at(-1)?.[1]).toBeLessThanOrEqual(6 * (50 + 4 * latencyMs + 1))
      expect(fleet.flatMap(({ log }) => log.events).some(({ kind }) => kind === 'capFull')).toBe(true)
    })
  })

  it('starts a delayed task when it is due, and never before', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      const { task$, log } = workerOn(port)
      for (const dueMs of [40, 777, 1_111, 5_000])
        at(10, () => port.enqueue({ taskId: String(dueMs), lane: mail, notBefore: dueMs }))

      runFor(6_000, flush, task$)

      expect(log.started.map(([taskId]) => taskId)).toEqual(['40', '777', '1111', '5000'])
      for (const [taskId, atMs] of log.started) {
        expect(atMs).toBeGreaterThanOrEqual(Number(taskId))
        expect(atMs - Number(taskId)).toBeLessThanOrEqual(4 * latencyMs + 1)
      }
    })
  })

  it('learns of lanes with tags that it offers', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      const [eu, us] = [lane('mail', 1, ['eu']), lane('mail', 1, ['us'])]
      const { task$, log } = workerOn(port, { tags: ['eu'] })
      at(3_000, () => port.enqueue({ taskId: 'a', lane: eu }))
      at(3_000, () => port.enqueue({ taskId: 'b', lane: us }))

      const [done] = runFor(6_000, flush, task$)

      expect(done?.[0]).toBe('a')
      expect(done?.[1]).toBeLessThanOrEqual(3_000 + 500 + 10 + 6 * latencyMs)
      expect(log.events).toContainEqual({ kind: 'lanesFound', lanes: [eu] })
      expect(port.length(us)).toBe(1)
    })
  })

  it('learns of the lanes that are known already when it begins', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      fill(port, lane('mail', 1, ['eu']), 'a')
      const { task$, log } = workerOn(port, { tags: ['eu'] })

      runFor(2_000, flush, task$)

      // It learns of the lane in two round trips, is woken in one, and reads.
      expect(log.started[0]?.[1]).toBeLessThanOrEqual(10 + 4 * latencyMs)
    })
  })

  it('does not look into the schedule because a lane rings', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      const { task$, log } = workerOn(port)
      for (let ms = 30; ms < 4_000; ms += 50) at(ms, () => port.enqueue({ taskId: String(ms), lane: mail }))

      runFor(4_000, flush, task$)

      expect(log.started).toHaveLength(80)
      expect(port.calls.promote.length).toBeLessThanOrEqual(9)
    })
  })

  it('clears away consumers that nobody owns any more', () => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs })
      port.read({ workerId: 'gone', slots: ['gone-slot-0'], lanes: [reading(mail)] }).subscribe()
      const { task$ } = workerOn(port)

      runFor(250_000, flush, task$)

      expect(port.consumers(mail)).toEqual(['w-slot-0'])
    })
  })
})
