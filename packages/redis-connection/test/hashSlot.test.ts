import { describe, expect, it } from 'vitest'

import { hashSlot, hashTagOf } from '../src/index.js'

describe('hashSlot', () => {
  // From the specification of Redis Cluster, and asked of a server.
  it.each([
    ['123456789', 0x31c3],
    ['', 0],
    ['foo', 12_182],
    ['ä', 13_929],
    ['{user1000}.following', 3_443],
    ['{user1000}.followers', 3_443],
    ['foo{}{bar}', 8_363],
    ['foo{{bar}}zap', 4_015],
    ['foo{bar}{zap}', 5_061],
  ])('of %j is %i', (key, slot) => {
    expect(hashSlot(key)).toBe(slot)
  })

  it.each([
    ['{a}b', 'a'],
    ['x{a}{b}', 'a'],
    ['{{a}}', '{a'],
    ['{}a', undefined],
    ['a}{b', undefined],
    ['', undefined],
  ])('goes by the hash tag of %j, %j', (key, tag) => {
    expect(hashTagOf(key)).toBe(tag)
  })
})
