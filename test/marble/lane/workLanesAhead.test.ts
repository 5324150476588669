import { defer, finalize } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { lane, type LanePort } from '../../../src/index.js'
import { virtualLanePort } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'
import { fill, numbered, runFor, taskIdsOf, watched, workerOn } from './workers.js'

const mail = lane('mail', 1)

/** A port that tells how many reads were under way at once, and for which slots. */
const watchingReads = (port: LanePort) => {
  const seen = { most: 0, isShared: false }
  const open = new Set<readonly string[]>()
  const watching: LanePort = {
    ...port,
    read: (request) =>
      defer(() => {
        const { slots } = request
        if ([...open].some((others) => others.some((slot) => slots.includes(slot)))) seen.isShared = true
        open.add(slots)
        seen.most = Math.max(seen.most, open.size)
        return port.read(request).pipe(finalize(() => open.delete(slots)))
      }),
  }
  return { watching, seen }
}

describe('workLanes under load', () => {
  it.each([
    [1, 1],
    [2, 2],
    [40, 2],
  ])('with %d slots has %d reads under way at most, and never two for one slot', (slots, most) => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs: 5 })
      fill(port, mail, ...numbered('m', 2_000))
      const { watching, seen } = watchingReads(port)
      const { task$ } = workerOn(watching, { slots, workMs: 3 })

      runFor(300, flush, task$)

      expect(seen).toEqual({ most, isShared: false })
    })
  })

  it.each([2, 3, 40])('with %d slots never holds more claims than these, and leaves nothing out', (slots) => {
    marbles(({ flush }) => {
      const port = virtualLanePort({ latencyMs: 5 })
      fill(port, mail, ...numbered('m', 300))
      const { task$, log } = workerOn(port, { slots, workMs: 7 })
      const pending = watched(3_000, () => port.pending().length)

      expect(taskIdsOf(runFor(3_000, flush, task$)).sort()).toEqual(numbered('m', 300).sort())

      expect(Math.max(...pending)).toBeLessThanOrEqual(slots)
      expect(log.most).toBeGreaterThan(1)
      expect([port.pending(), port.length(mail)]).toEqual([[], 0])
    })
  })
})
