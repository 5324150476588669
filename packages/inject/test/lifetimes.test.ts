import { describe, expect, it, vi } from 'vitest'
import type { InjectFn, Injector, Lifetime, SyncToken } from '../src/index.js'
import { createInjector, defineService, defineServiceAsync, InvalidLifetimeDependencyError } from '../src/index.js'
import { reasonOf } from './reasonOf.js'

const define = <L extends Lifetime>(lifetime: L, name: string = lifetime) =>
  defineService({ name, lifetime, factory: ({ injector }) => ({ owner: injector }) })

const Singleton = define('singleton')
const Scoped = define('scoped')
const Transient = define('transient')

describe('lifetimes', () => {
  it('decide which injectors share an instance', () => {
    const root = createInjector()
    const scopes = [root.createScope(), root.createScope()]
    const injectors = [root, ...scopes]
    const distinct = (token: SyncToken<object>) => new Set(injectors.map((injector) => injector.get(token))).size
    expect(distinct(Singleton)).toBe(1)
    expect(distinct(Scoped)).toBe(3)
    expect(distinct(Transient)).toBe(3)
    expect(root.get(Scoped)).toBe(root.get(Scoped))
    expect(root.get(Transient)).not.toBe(root.get(Transient))
  })

  it('do not let a scope see what its parent has cached', () => {
    const root = createInjector()
    const atRoot = root.get(Scoped)
    expect(root.createScope().get(Scoped)).not.toBe(atRoot)
  })

  it('run a factory in the context of the owning injector', () => {
    const root = createInjector()
    const scope = root.createScope().createScope()
    expect(scope.get(Singleton).owner).toBe(root)
    expect(scope.get(Scoped).owner).toBe(scope)
    expect(scope.get(Transient).owner).toBe(scope)
  })

  it('resolve dependencies from the owning injector', () => {
    const Outer = defineService({
      name: 'Outer',
      lifetime: 'scoped',
      factory: ({ inject }) => [inject(Scoped).owner, inject(Singleton).owner],
    })
    const root = createInjector()
    const scope = root.createScope()
    expect(scope.get(Outer)).toEqual([scope, root])
    expect(scope.get(Scoped).owner).toBe(scope)
  })
})

describe('injectors', () => {
  it('know their parent and owner', () => {
    const root = createInjector()
    const owner = { request: 1 }
    const scope = root.createScope({ owner })
    expect([root.parent, root.owner]).toEqual([null, undefined])
    expect([scope.parent, scope.owner]).toEqual([root, owner])
    expect(root.createScope().owner).toBeUndefined()
  })
})

describe('dependencies between lifetimes', () => {
  const lifetimes = ['singleton', 'scoped', 'transient'] as const
  const allowed = ['singleton>singleton', 'scoped>singleton', 'scoped>scoped']
  const pairs = lifetimes.flatMap((parent) => lifetimes.map((child) => [parent, child] as const))
  const isAllowed = (parent: Lifetime, child: Lifetime) =>
    parent === 'transient' || allowed.includes(`${parent}>${child}`)

  // The compiler refuses some of these, the check at run time is for those that get past it.
  const parentOf = (parent: Lifetime, child: SyncToken<object>) =>
    defineService({
      name: 'Parent',
      lifetime: parent,
      factory: ({ inject }) => (inject as InjectFn<'scoped'>)(child),
    })

  it.each(pairs)('are checked for a %s service that injects a %s one', (parent, child) => {
    const factory = vi.fn(() => ({}))
    const Child = defineService({ name: 'Child', lifetime: child, factory })
    const injector = createInjector()
    const get = () => injector.get(parentOf(parent, Child))
    if (isAllowed(parent, child)) {
      expect(get()).toBeTypeOf('object')
    } else {
      expect(get).toThrow(InvalidLifetimeDependencyError)
      expect(get).toThrow(
        expect.objectContaining({
          parentName: 'Parent',
          parentLifetime: parent,
          childName: 'Child',
          childLifetime: child,
        }),
      )
      expect(factory).not.toHaveBeenCalled()
    }
  })

  it.each(pairs)('I15: injectAsync reports a %s service that injects a %s one by rejection', async (parent, child) => {
    const Child = defineServiceAsync({ name: 'Child', lifetime: child, factory: () => Promise.resolve('child') })
    let returned: Promise<unknown> | undefined
    const Parent = defineServiceAsync({
      name: 'Parent',
      lifetime: parent as 'scoped',
      factory: ({ injectAsync }) => {
        // Not a try around an await: what matters is that the call itself returns.
        returned = injectAsync(Child)
        return returned
      },
    })
    const injector: Injector = createInjector()
    const request = injector.getAsync(Parent)
    expect(returned).toBeInstanceOf(Promise)
    if (isAllowed(parent, child)) {
      expect(await request).toBe('child')
    } else {
      expect(await reasonOf(request)).toBeInstanceOf(InvalidLifetimeDependencyError)
      expect(injector.isResolved(Child)).toBe(false)
    }
  })

  it('I15: injectAsync rejects for sync tokens of an incompatible lifetime as well', async () => {
    let returned: Promise<unknown> | undefined
    const Parent = defineService({
      name: 'Parent',
      lifetime: 'scoped',
      factory: ({ injectAsync }) => {
        returned = injectAsync(Transient)
        return 'built'
      },
    })
    expect(createInjector().get(Parent)).toBe('built')
    expect(await reasonOf(returned ?? Promise.resolve())).toBeInstanceOf(InvalidLifetimeDependencyError)
  })
})
