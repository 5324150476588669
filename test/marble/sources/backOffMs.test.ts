import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { backOffMs } from '../../../src/sources/backOffMs.js'

const lowest = (): number => 0
const highest = (): number => 0.999_999_999

describe('backOffMs', () => {
  it('doubles with each failure, up to five seconds', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 1_000].map((failures) => backOffMs(250, failures, highest))).toEqual([
      250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000,
    ])
  })

  it('takes off up to a half', () => {
    expect(backOffMs(250, 2, lowest)).toBe(500)
    expect(backOffMs(250, 2, () => 0.5)).toBe(750)
  })

  it('never goes below the half of its base, even if that is more than five seconds', () => {
    expect(backOffMs(60_000, 0, highest)).toBe(60_000)
    expect(backOffMs(60_000, 7, highest)).toBe(60_000)
    expect(backOffMs(60_000, 7, lowest)).toBe(30_000)
  })

  it('is a whole number between half the base and the limit, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.nat(),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (baseMs, failures, random) => {
          const restMs = backOffMs(baseMs, failures, () => random)

          expect(Number.isInteger(restMs)).toBe(true)
          expect(restMs).toBeGreaterThanOrEqual(Math.floor(baseMs / 2))
          expect(restMs).toBeLessThanOrEqual(Math.max(5_000, baseMs))
        },
      ),
    )
  })
})
