import { describe, expect, it, vi } from 'vitest'
import { createInjector, defineService, InjectorDisposedError, withScope } from '../src/index.js'
import { reasonOf } from './reasonOf.js'

const setUp = (callback: () => void | Promise<void> = () => {}) => {
  const dispose = vi.fn(callback)
  const Service = defineService({
    name: 'Service',
    lifetime: 'scoped',
    factory: ({ onDispose }) => {
      onDispose(dispose)
      return 'service'
    },
  })
  return { dispose, Service, root: createInjector() }
}

describe('withScope', () => {
  it('hands out what a sync function returns and disposes the scope', async () => {
    const { dispose, Service, root } = setUp()
    expect(await withScope(root, (scope) => scope.get(Service))).toBe('service')
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('waits for an async function before it disposes the scope', async () => {
    const { dispose, Service, root } = setUp()
    const result = await withScope(root, async (scope) => {
      const service = scope.get(Service)
      await Promise.resolve()
      expect(dispose).not.toHaveBeenCalled()
      return service.length
    })
    expect(result).toBe(7)
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('makes a child of the parent with the given owner', async () => {
    const { root } = setUp()
    const owner = {}
    await withScope(
      root,
      (scope) => {
        expect([scope.parent, scope.owner]).toEqual([root, owner])
      },
      { owner },
    )
  })

  it('rejects for a disposed parent', async () => {
    const { root } = setUp()
    await root[Symbol.asyncDispose]()
    const fn = vi.fn()
    expect(await reasonOf(withScope(root, fn))).toBeInstanceOf(InjectorDisposedError)
    expect(fn).not.toHaveBeenCalled()
  })

  it('I16: an error of the function alone arrives unwrapped, after the disposal', async () => {
    const { dispose, Service, root } = setUp()
    const failure = new Error('body')
    const reason = await reasonOf(
      withScope(root, (scope) => {
        scope.get(Service)
        throw failure
      }),
    )
    expect(reason).toBe(failure)
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('I16: an error of the disposal alone arrives as it is', async () => {
    const closing = new Error('closing')
    const { Service, root } = setUp(() => Promise.reject(closing))
    const reason = await reasonOf(withScope(root, (scope) => scope.get(Service)))
    expect(reason).toMatchObject({ errors: [closing] })
  })

  it('I16: errors of both arrive together, that of the function first', async () => {
    const [failure, closing] = [new Error('body'), new Error('closing')]
    const { Service, root } = setUp(() => Promise.reject(closing))
    const reason = await reasonOf(
      withScope(root, async (scope) => {
        scope.get(Service)
        await Promise.reject(failure)
      }),
    )
    expect(reason).toBeInstanceOf(AggregateError)
    expect((reason as AggregateError).cause).toBe(failure)
    const [first, second] = (reason as AggregateError).errors as unknown[]
    expect(first).toBe(failure)
    expect(second).toMatchObject({ errors: [closing] })
  })
})
