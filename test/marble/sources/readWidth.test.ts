import { describe, expect, it } from 'vitest'

import { ReadWidth } from '../../../src/sources/readWidth.js'

const times = (count: number, act: () => void): void => {
  for (let n = 0; n < count; n++) act()
}

describe('ReadWidth', () => {
  it('names all lanes until as many reads in a row as there are lanes have needed few', () => {
    const width = new ReadWidth()
    times(19, () => width.gaveAll(3, 20, 1))
    expect(width.of(20)).toBe(20)
    width.gaveAll(1, 20, 1)
    expect(width.of(20)).toBe(3)
  })

  it('is sure of a thousand lanes after 64 reads', () => {
    const width = new ReadWidth()
    times(63, () => width.gaveAll(25, 1_000, 25))
    expect(width.of(1_000)).toBe(1_000)
    width.gaveAll(4, 1_000, 25)
    expect(width.of(1_000)).toBe(25)
  })

  it('is what the last reads needed at most, and two at least', () => {
    const width = new ReadWidth()
    times(50, () => width.gaveAll(25, 50, 25))
    times(50, () => width.gaveAll(4, 50, 25))
    expect(width.of(50)).toBe(4)
    times(50, () => width.gaveAll(1, 50, 25))
    expect(width.of(50)).toBe(2)
  })

  it('names all where entries are far apart', () => {
    const width = new ReadWidth()
    times(50, () => width.gaveAll(26, 50, 25))
    expect(width.of(50)).toBe(50)
  })

  it('widens where others had what was missing, and begins anew where nobody had', () => {
    const width = new ReadWidth()
    times(50, () => width.gaveAll(4, 50, 25))
    width.fellShort(true, 25)
    expect(width.of(50)).toBe(8)
    width.fellShort(true, 25)
    expect(width.of(50)).toBe(16)
    width.fellShort(true, 25)
    expect(width.of(50)).toBe(50)

    times(50, () => width.gaveAll(4, 50, 25))
    width.fellShort(false, 25)
    expect(width.of(50)).toBe(50)
  })

  it('counts reads in a row only', () => {
    const width = new ReadWidth()
    times(19, () => width.gaveAll(2, 20, 4))
    width.fellShort(false, 4)
    times(19, () => width.gaveAll(2, 20, 4))
    expect(width.of(20)).toBe(20)
  })

  it('always names a few', () => {
    const width = new ReadWidth()
    times(4, () => width.gaveAll(1, 4, 1))
    expect(width.of(4)).toBe(4)
    expect(width.of(0)).toBe(0)
  })
})
