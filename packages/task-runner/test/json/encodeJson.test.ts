import { inspect, isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { encodeJson } from '../../src/json/encodeJson.js'

const roundTrip = (value: unknown): unknown => {
  const text = encodeJson(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/** What reading a value member by member shows: members that are `undefined` are not there, and no prototype is. */
const asRead = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(asRead)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, asRead(member)]))
}

/** To the sign of zero, and whatever members are called, which `toStrictEqual` is misled by. */
const expectSame = (actual: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(actual, expected)) expect(inspect(actual)).toBe(inspect(expected))
}

const nested = (depth: number): unknown => {
  let value: unknown = 'bottom'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}

describe('encodeJson', () => {
  it('keeps every value that JSON has, to the sign of zero', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 }), (value) => {
        expectSame(roundTrip(value), asRead(value))
      }),
    )
  })

  it('keeps whatever it does not refuse', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    let kept = 0
    fc.assert(
      fc.property(anything, (value) => {
        let read: unknown
        try {
          read = roundTrip(value)
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          return
        }
        kept++
        expectSame(read, asRead(value))
      }),
      { numRuns: 500 },
    )
    expect(kept).toBeGreaterThan(50)
  })

  it.each<[string, unknown]>([
    ['zero', -0],
    ['zero within', { a: [0, -0] }],
    ['the largest whole number', Number.MAX_SAFE_INTEGER],
    ['a number beyond it', 2 ** 53 + 2],
    ['the largest number', Number.MAX_VALUE],
    ['the smallest number', Number.MIN_VALUE],
    ['17 digits', 0.30000000000000004],
    ['half a surrogate pair', 'a\ud800b'],
    ['NUL and other control characters', '\0\u0001\u007f\u2028'],
    ['a member called __proto__', JSON.parse('{"__proto__":{"polluted":true}}') as unknown],
    ['a member called constructor', { constructor: 'mine', toString: 1 }],
    ['an empty text', ''],
    ['a depth of 1,000', nested(999)],
    ['an object of another realm', runInNewContext('({ a: [1, { b: 2 }] })') as unknown],
  ])('keeps %s', (_name, value) => {
    const read = roundTrip(value)
    expect(read).toEqual(value)
    expect(JSON.stringify(read)).toBe(JSON.stringify(value))
  })

  it('leaves prototypes alone', () => {
    const read = roundTrip(JSON.parse('{"__proto__":{"polluted":true}}')) as object
    expect(Object.keys(read)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('leaves out members that are undefined', () => {
    expect(encodeJson({ a: undefined, b: 1 })).toBe('{"b":1}')
    expect(encodeJson({ a: undefined, b: -0 })).toBe('{"b":-0}')
    expect(encodeJson(undefined)).toBeUndefined()
  })

  class User {
    name = 'a'
  }
  class List extends Array<number> {}
  const cycle: { self?: unknown } = {}
  cycle.self = { within: cycle }
  it.each<[unknown, RegExp]>([
    [{ n: Number.NaN }, /^\.n is NaN/],
    [[1, -Infinity], /^\[1\] is -Infinity/],
    [10n, /^it is a BigInt/],
    [{ a: { 'b c': [10n] } }, /^\.a\["b c"\]\[0\] is a BigInt/],
    [() => 1, /^it is a function/],
    [{ a: Symbol('s') }, /^\.a is a symbol/],
    [[undefined], /^\[0\] is undefined/],
    [Array(3), /^it is an array with holes/],
    [Object.assign([1], { more: 2 }), /members beside/],
    [{ at: new Date(0) }, /^\.at is a Date/],
    [new Map(), /^it is an instance of "Map"/],
    [{ user: new User() }, /^\.user is an instance of "User"/],
    [List.from([1]), /^it is an instance of "List"/],
    [Buffer.from('a'), /"Buffer"/],
    [new Error('a'), /"Error"/],
    [Promise.resolve(), /"Promise"/],
    [{ [Symbol('s')]: 1 }, /under a symbol/],
    [{ toJSON: () => 1 }, /^\.toJSON is a function/],
    [cycle, /^\.self\.within.* is more than 1000 levels deep/],
    [nested(1_001), /1000 levels/],
    [{ ['x'.repeat(10_000)]: 1n }, /^\["x{80}…"\] is a BigInt/],
  ])('names the place of what it refuses: %#', (value, message) => {
    expect(() => encodeJson(value)).toThrow(TypeError)
    expect(() => encodeJson(value)).toThrow(message)
  })

  it('passes on what a getter throws', () => {
    const value = {
      get a(): never {
        throw new RangeError('no')
      },
    }
    expect(() => encodeJson(value)).toThrow(RangeError)
  })
})
