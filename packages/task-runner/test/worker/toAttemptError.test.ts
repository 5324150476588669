import { runInNewContext } from 'node:vm'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { toAttemptError } from '../../src/worker/toAttemptError.js'

const throwing = (): never => {
  throw new Error('not to be looked at')
}
const hostileProxy = new Proxy(new Error('inner'), { get: throwing, getPrototypeOf: throwing, has: throwing })
const cyclic = new Error('cyclic')
cyclic.cause = cyclic

describe('toAttemptError', () => {
  it.each<[string, unknown, object]>([
    ['an error', new RangeError('no'), { name: 'RangeError', message: 'no' }],
    ['a text', 'just a text', { name: 'Error', message: 'just a text' }],
    ['undefined', undefined, { name: 'Error', message: 'undefined' }],
    ['a symbol', Symbol('s'), { name: 'Error', message: 'Symbol(s)' }],
    ['an object without a text', Object.create(null), { name: 'Error' }],
    ['an error of another realm', runInNewContext(`new TypeError('far')`), { name: 'TypeError', message: 'far' }],
    ['an AggregateError', new AggregateError([new Error('a')], 'two'), { name: 'AggregateError', message: 'two' }],
    ['a frozen error', Object.freeze(new Error('cold')), { name: 'Error', message: 'cold' }],
    ['an error that causes itself', cyclic, { name: 'Error', message: 'cyclic' }],
    ['an abort', new DOMException('stop', 'AbortError'), { name: 'AbortError', message: 'stop' }],
    [
      'an error whose message throws',
      Object.defineProperty(new TypeError(), 'message', { get: throwing }),
      { name: 'TypeError', message: 'a value without a text form was thrown' },
    ],
    [
      'an error whose stack throws',
      Object.defineProperty(new TypeError('x'), 'stack', { get: throwing }),
      { name: 'TypeError', message: 'x' },
    ],
    ['an error with odd members', Object.assign(new Error('x'), { name: 7, stack: {} }), { name: 'Error' }],
    ['a proxy that throws at everything', hostileProxy, { name: 'Error' }],
  ])('keeps what it can of %s', (_name, thrown, kept) => {
    expect(toAttemptError(thrown)).toMatchObject(kept)
  })

  it('keeps what caused it, in the stack', () => {
    const socket = new Error('read ECONNRESET')
    const upload = new Error('the upload failed', { cause: new Error('no answer', { cause: socket }) })
    expect(toAttemptError(upload).message).toBe('the upload failed')
    expect(toAttemptError(upload).stack).toMatch(
      /^Error: the upload failed\n[^]*\ncaused by: Error: no answer\n[^]*\ncaused by: Error: read ECONNRESET\n/,
    )
    expect(toAttemptError(new Error('x', { cause: { code: 7 } })).stack).toMatch(/\ncaused by: \[object Object\]$/)
    expect(toAttemptError(cyclic).stack?.match(/caused by/g)).toHaveLength(4)
    const hidden = Object.defineProperty(new Error('x'), 'cause', { get: throwing })
    expect(toAttemptError(hidden).stack).toMatch(/^Error: x\n/)
  })

  it('is bounded', () => {
    const huge = new Error('m'.repeat(10_000_000))
    huge.name = 'n'.repeat(10_000)
    huge.stack = 's'.repeat(10_000_000)
    const { name, message, stack } = toAttemptError(huge)
    expect([name.length, message.length, stack?.length]).toEqual([256, 8_192, 16_384])
    expect(message.endsWith('m…')).toBe(true)
  })

  it('never cuts a pair of surrogates, and never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.nat({ max: 3 }), (thrown, shift) => {
        expect(typeof toAttemptError(thrown).message).toBe('string')
        const { message } = toAttemptError(new Error('-'.repeat(8_188 + shift) + '😀😀😀😀'))
        expect(message.isWellFormed()).toBe(true)
      }),
    )
  })
})
