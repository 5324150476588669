import { describe, expect, it } from 'vitest'
import { planTasks } from '../../demo/plan.js'
import { mostAtOnce, percentile } from '../../demo/statistics.js'

describe('percentile', () => {
  it('is one of the values', () => {
    const values = [5, 1, 4, 2, 3]
    expect(percentile(values, 0.5)).toBe(3)
    expect(percentile(values, 0.95)).toBe(5)
    expect(percentile(values, 0)).toBe(1)
    expect(percentile([], 0.5)).toBeUndefined()
  })
})

describe('mostAtOnce', () => {
  it('counts overlaps, not touches', () => {
    expect(mostAtOnce([])).toBe(0)
    expect(
      mostAtOnce([
        [0, 10],
        [10, 20],
        [5, 15],
      ]),
    ).toBe(2)
    expect(
      mostAtOnce([
        [0, Infinity],
        [1, 2],
        [1, 2],
      ]),
    ).toBe(3)
  })
})

describe('planTasks', () => {
  const files = (count: number, bytes: (index: number) => number) =>
    Array.from({ length: count }, (_, index) => ({ path: `f${index}.ts`, bytes: bytes(index), modifiedMs: 0 }))

  it('makes a tenth of the files large, also where all are of one size', () => {
    for (const bytes of [(index: number) => index, () => 7]) {
      const { tasks } = planTasks(files(100, bytes))
      expect(tasks.filter(({ type }) => type === 'hash:large')).toHaveLength(10)
    }
  })

  it('delays some by 1 to 3 seconds', () => {
    const delays = planTasks(files(120, () => 1)).tasks.flatMap(({ delayMs }) => (delayMs > 0 ? [delayMs] : []))
    expect(delays).toHaveLength(10)
    for (const delay of delays) expect(delay).toSatisfy((ms: number) => ms >= 1_000 && ms <= 3_000)
  })

  it('slows down only what would be over too soon', () => {
    expect(planTasks(files(2_000, () => 1)).slowdownMs).toBe(0)
    expect(planTasks(files(400, () => 1)).slowdownMs).toBe(240)
    expect(planTasks(files(1, () => 1)).slowdownMs).toBe(500)
  })
})
