import { runInNewContext } from 'node:vm'

import { type AnyTaskHandlerDescriptor, defineTaskHandler, NonRetryableError } from '@furystack/task-runner'
import { Observable } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { startStacks } from '../support/stacks.js'

const throwing = (): never => {
  throw new Error('not to be looked at')
}
const cyclic = new Error('cyclic')
cyclic.cause = { cyclic }
const hostileProxy = (inner: object): object =>
  new Proxy(inner, { get: throwing, getPrototypeOf: throwing, has: throwing, ownKeys: throwing })
const unreadable = Object.defineProperties(new TypeError(), {
  stack: { get: throwing },
  message: { get: throwing },
  name: { get: throwing },
})
const huge = new RangeError('m'.repeat(10_000_000))
huge.stack = 's'.repeat(10_000_000)

/** What handlers may throw, and what is kept of it. */
const THROWN: Array<[string, unknown, { name: string; message?: string }]> = [
  ['undefined', undefined, { name: 'Error', message: 'undefined' }],
  ['null', null, { name: 'Error', message: 'null' }],
  ['text', 'a\ud800\0b', { name: 'Error', message: 'a\ud800\0b' }],
  ['number', Number.NaN, { name: 'Error', message: 'NaN' }],
  ['symbol', Symbol('s'), { name: 'Error', message: 'Symbol(s)' }],
  ['bare object', Object.create(null), { name: 'Error' }],
  ['object with a toString that throws', { toString: throwing }, { name: 'Error' }],
  ['frozen error', Object.freeze(new TypeError('cold')), { name: 'TypeError', message: 'cold' }],
  ['error that causes itself', cyclic, { name: 'Error', message: 'cyclic' }],
  ['AggregateError', new AggregateError([cyclic, huge], 'both'), { name: 'AggregateError', message: 'both' }],
  ['error of another realm', runInNewContext(`new URIError('far')`), { name: 'URIError', message: 'far' }],
  ['error that cannot be read', unreadable, { name: 'Error' }],
  ['proxy that throws at everything', hostileProxy(new Error('inner')), { name: 'Error' }],
  ['final error', new NonRetryableError('for good'), { name: 'NonRetryableError', message: 'for good' }],
  ['error with a polluting name', Object.assign(new Error('x'), { name: '__proto__' }), { name: '__proto__' }],
]

describe('whatever a handler throws', () => {
  it('fails its attempt, and nothing else', async () => {
    const ways: Record<string, (thrown: unknown) => unknown> = {
      throws: (thrown) => {
        throw thrown
      },
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- that is what is tested
      rejects: (thrown) => Promise.reject(thrown),
      errors: (thrown) => new Observable((out) => out.error(thrown)),
    }
    const handlers: AnyTaskHandlerDescriptor[] = Object.entries(ways).map(([type, way]) =>
      defineTaskHandler({ type, version: 1, handler: (_, index: number) => way(THROWN[index]?.[1]) }),
    )
    const alive = defineTaskHandler({ type: 'alive', version: 1, handler: () => 'yes' })
    for (const { runner, work, troubles } of await startStacks()) {
      work([...handlers, alive])
      const failures = THROWN.flatMap(([what, , kept], index) =>
        Object.keys(ways).map(async (type) => {
          const { id } = await runner.submit({ type, handlerVersion: 1, payload: index })
          await expect(runner.waitFor(id, { timeoutMs: 10_000 })).rejects.toMatchObject({ name: 'TaskFailedError' })
          const task = await runner.get(id)
          expect([what, type, task?.status, task?.attempts.map(({ status }) => status)]).toEqual([
            what,
            type,
            'failed',
            ['failed'],
          ])
          expect(task?.error).toMatchObject(kept)
          expect(task?.attempts[0]?.error).toMatchObject(kept)
        }),
      )
      await Promise.all(failures)
      const { id } = await runner.submit({ type: 'alive', handlerVersion: 1, payload: 1 })
      expect(await runner.waitFor(id, { timeoutMs: 10_000 })).toBe('yes')
      expect(troubles).toEqual([])
    }
  })

  it('is kept within bounds, row and message alike', async () => {
    for (const { runner, work } of await startStacks()) {
      work([
        defineTaskHandler({
          type: 'huge',
          version: 1,
          handler: () => {
            throw huge
          },
        }),
      ])
      const { id } = await runner.submit({ type: 'huge', handlerVersion: 1, payload: 1 })
      const error: unknown = await runner.waitFor(id, { timeoutMs: 10_000 }).catch((reason: unknown) => reason)
      expect((error as Error).message.length).toBeLessThan(2_000)
      const task = await runner.get(id)
      expect(task?.error?.message).toHaveLength(8_192)
      expect(task?.attempts[0]?.error?.stack).toHaveLength(16_384)
    }
  })
})

describe('whatever a handler returns', () => {
  /** They throw when they are looked at: by the runner, for whether they are observables or promises; or by JSON. */
  const RETURNED: Array<[string, () => unknown]> = [
    ['a proxy', () => hostileProxy({})],
    ['a promise of a proxy', () => Promise.resolve().then(() => ({ inner: hostileProxy({}) }))],
    ['an object whose lift throws', () => Promise.resolve(Object.defineProperty({}, 'lift', { get: throwing }))],
    ['an object whose then throws', () => Object.defineProperty({}, 'then', { get: throwing })],
    ['a thenable that throws', () => ({ then: throwing })],
    [
      'a getter that throws',
      () => ({
        a: {
          get b() {
            return throwing()
          },
        },
      }),
    ],
    ['an observable that throws', () => new Observable(throwing)],
  ]

  it('fails its attempt, and nothing else', async () => {
    const handler = defineTaskHandler({
      type: 'returns',
      version: 1,
      handler: (_, index: number) => RETURNED[index]?.[1](),
    })
    for (const { runner, work } of await startStacks()) {
      work([handler])
      for (const [index, [what]] of RETURNED.entries()) {
        const { id } = await runner.submit({ type: 'returns', handlerVersion: 1, payload: index })
        const ended = await runner.waitFor(id, { timeoutMs: 10_000 }).catch((reason: unknown) => reason)
        expect([what, ended]).toEqual([what, expect.objectContaining({ name: 'TaskFailedError' })])
      }
    }
  })

  it('or emits on the way is no harm to its run', async () => {
    const emit = defineTaskHandler({
      type: 'emit',
      version: 1,
      handler: () =>
        new Observable<unknown>((out) => {
          out.next(hostileProxy({}))
          out.next(Object.defineProperty({}, 'percent', { get: throwing, enumerable: true }))
          out.next('the last')
          out.complete()
        }),
    })
    for (const { runner, work, troubles } of await startStacks()) {
      work([emit])
      const { id } = await runner.submit({ type: 'emit', handlerVersion: 1, payload: 1 })
      expect(await runner.waitFor(id, { timeoutMs: 10_000 })).toBe('the last')
      expect(troubles.map(({ operation }) => operation)).toEqual(['progress', 'progress'])
    }
  })
})
