import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { reconnectDelayMs } from '../src/index.js'

describe('reconnectDelayMs', () => {
  it('doubles up to two seconds, less a random half, so that a fleet does not come back in step', () => {
    const most = (retries: number): number => reconnectDelayMs(retries, undefined, () => 1)
    expect([0, 1, 2, 3, 4, 5, 6, 100].map(most)).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 2_000])
    fc.assert(
      fc.property(fc.nat(), fc.float({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (retries, random) => {
        const delay = reconnectDelayMs(retries, undefined, () => random)
        expect(delay).toBeGreaterThanOrEqual(most(retries) / 2)
        expect(delay).toBeLessThanOrEqual(most(retries))
      }),
    )
    const delays = new Set(Array.from({ length: 20 }, () => reconnectDelayMs(10)))
    expect(delays.size).toBeGreaterThan(5)
  })
})
