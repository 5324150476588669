import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { compareRedisStreamId } from '../src/index.js'

const part = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const id = fc.tuple(part, part)
const text = ([ms, counter]: [bigint, bigint]): string => `${ms}-${counter}`

describe('compareRedisStreamId', () => {
  it('orders as the numbers do, however long they are', () => {
    fc.assert(
      fc.property(id, id, (a, b) => {
        const expected = a[0] === b[0] ? a[1] - b[1] : a[0] - b[0]
        expect(Math.sign(compareRedisStreamId(text(a), text(b)))).toBe(expected < 0n ? -1 : expected > 0n ? 1 : 0)
      }),
    )
  })

  it('takes an id without a counter for one with counter 0, and does not mind leading zeros', () => {
    expect(compareRedisStreamId('5', '5-0')).toBe(0)
    expect(compareRedisStreamId('0', '0-0')).toBe(0)
    expect(compareRedisStreamId('005-007', '5-7')).toBe(0)
    expect(compareRedisStreamId('5', '5-1')).toBeLessThan(0)
    expect(compareRedisStreamId('10-0', '9-9')).toBeGreaterThan(0)
  })

  it.each(['', '-', '5-', '-5', '5-5-5', '5.5', '1e3', ' 5', '5 ', '+', '$', '(5', 'NaN', '18446744073709551616-0'])(
    'B28: refuses %j',
    (wrong) => {
      expect(() => compareRedisStreamId(wrong, '0-0')).toThrow(RangeError)
      expect(() => compareRedisStreamId('0-0', wrong)).toThrow(RangeError)
    },
  )
})
