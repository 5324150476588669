import { describe, expect, it, vi } from 'vitest'
import * as inject from '../src/index.js'
import { createInjector, defineService, defineServiceAsync, isToken } from '../src/index.js'

describe('the package', () => {
  it('exports these values and no others', () => {
    expect(Object.keys(inject).sort()).toEqual([
      'AsyncTokenInSyncContextError',
      'CircularDependencyError',
      'Injector',
      'InjectorDisposedError',
      'InvalidLifetimeDependencyError',
      'createInjector',
      'defineService',
      'defineServiceAsync',
      'isToken',
      'withScope',
    ])
  })
})

describe('defineService', () => {
  it('describes the service without building it', () => {
    const factory = vi.fn(() => 1)
    const token = defineService({ name: 'One', lifetime: 'scoped', factory })
    expect(token).toMatchObject({ name: 'One', lifetime: 'scoped', isAsync: false, factory })
    expect(token.id.description).toBe('One')
    expect(Symbol.keyFor(token.id)).toBeUndefined()
    expect('__type' in token).toBe(false)
    expect(factory).not.toHaveBeenCalled()
  })

  it('makes a new service for every definition, also under the same name', () => {
    const define = () => defineService({ name: 'Same', lifetime: 'singleton', factory: () => ({}) })
    const [first, second] = [define(), define()]
    const injector = createInjector()
    expect(first.id).not.toBe(second.id)
    expect(injector.get(first)).not.toBe(injector.get(second))
  })

  it('makes tokens that can be given further members', () => {
    const token = defineService({ name: 'Store', lifetime: 'singleton', factory: () => 'store' })
    const enriched = Object.assign(token, { primaryKey: 'id' })
    expect(isToken(enriched)).toBe(true)
    expect(createInjector().get(enriched)).toBe('store')
  })
})

describe('defineServiceAsync', () => {
  it('describes the service without building it', () => {
    const factory = vi.fn(() => Promise.resolve(1))
    const token = defineServiceAsync({ name: 'Later', lifetime: 'transient', factory })
    expect(token).toMatchObject({ name: 'Later', lifetime: 'transient', isAsync: true, factory })
    expect(token.id.description).toBe('Later')
    expect(factory).not.toHaveBeenCalled()
  })
})

describe('isToken', () => {
  const token = { id: Symbol('t'), name: 't', lifetime: 'singleton', isAsync: false, factory: () => 1 }

  // A function has a name of its own, which cannot be assigned.
  const { name: _, ...members } = token

  it('accepts what defineService and defineServiceAsync return', () => {
    expect(isToken(defineService({ name: 'a', lifetime: 'singleton', factory: () => 1 }))).toBe(true)
    expect(isToken(defineServiceAsync({ name: 'b', lifetime: 'singleton', factory: () => Promise.resolve(1) }))).toBe(
      true,
    )
  })

  it('looks at the five members only', () => {
    expect(isToken(token)).toBe(true)
    expect(isToken({ ...token, lifetime: 'eternal', model: class {} })).toBe(true)
  })

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['a string', 'token'],
    ['a function', Object.assign(() => 1, members)],
    ['a string id', { ...token, id: 'id' }],
    ['no name', { ...token, name: undefined }],
    ['no lifetime', { ...token, lifetime: undefined }],
    ['no isAsync', { ...token, isAsync: undefined }],
    ['no factory', { ...token, factory: undefined }],
  ])('rejects %s', (_case, value) => {
    expect(isToken(value)).toBe(false)
  })
})
