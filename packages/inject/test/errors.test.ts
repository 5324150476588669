import { describe, expect, it } from 'vitest'
import {
  AsyncTokenInSyncContextError,
  CircularDependencyError,
  InjectorDisposedError,
  InvalidLifetimeDependencyError,
} from '../src/index.js'

describe('the errors', () => {
  it.each([
    ['InjectorDisposedError', new InjectorDisposedError()],
    ['CircularDependencyError', new CircularDependencyError(['A', 'A'])],
    ['InvalidLifetimeDependencyError', new InvalidLifetimeDependencyError('A', 'singleton', 'B', 'scoped')],
    ['AsyncTokenInSyncContextError', new AsyncTokenInSyncContextError('A')],
  ])('%s extends Error directly and carries its name', (name, error) => {
    expect(error.name).toBe(name)
    expect(String(error)).toContain(name)
    expect(Object.getPrototypeOf(Object.getPrototypeOf(error))).toBe(Error.prototype)
  })

  it('show the path of a cycle', () => {
    const error = new CircularDependencyError(['A', 'B', 'A'])
    expect(error.path).toEqual(['A', 'B', 'A'])
    expect(error.message).toContain('A -> B -> A')
  })

  it('show both sides of a lifetime conflict', () => {
    const error = new InvalidLifetimeDependencyError('Cache', 'scoped', 'Buffer', 'transient')
    expect(error).toMatchObject({
      parentName: 'Cache',
      parentLifetime: 'scoped',
      childName: 'Buffer',
      childLifetime: 'transient',
    })
    expect(error.message).toMatch(/scoped.*Cache.*transient.*Buffer/)
  })

  it('show the way out for async tokens', () => {
    const error = new AsyncTokenInSyncContextError('Database')
    expect(error.tokenName).toBe('Database')
    expect(error.message).toMatch(/Database.*getAsync/)
  })
})
