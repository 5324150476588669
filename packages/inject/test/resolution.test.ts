import { describe, expect, it, vi } from 'vitest'
import type { AnyToken, InjectFn, ServiceContext, SyncToken } from '../src/index.js'
import { AsyncTokenInSyncContextError, createInjector, defineService, defineServiceAsync } from '../src/index.js'
import { deferred } from './deferred.js'
import { reasonOf } from './reasonOf.js'

/** Takes an async token past the compiler. */
const asSync = <S>(token: AnyToken<S>) => token as unknown as SyncToken<S, 'singleton'>

describe('sync resolution', () => {
  it('runs the factory once and caches even undefined', () => {
    const factory = vi.fn(() => undefined)
    const token = defineService({ name: 'Nothing', lifetime: 'singleton', factory })
    const injector = createInjector()
    expect(injector.get(token)).toBeUndefined()
    expect(injector.get(token)).toBeUndefined()
    expect(factory).toHaveBeenCalledTimes(1)
  })

  it('tells the factory which token it serves', () => {
    let seen: AnyToken<unknown> | undefined
    const token = defineService({
      name: 'Self',
      lifetime: 'singleton',
      factory: (ctx) => {
        seen = ctx.token
        return 1
      },
    })
    createInjector().get(token)
    expect(seen).toBe(token)
  })

  it('gives every run of a factory a context of its own', () => {
    const contexts = new Set<ServiceContext<'transient'>>()
    const token = defineService({ name: 'T', lifetime: 'transient', factory: (ctx) => contexts.add(ctx) })
    const injector = createInjector()
    injector.get(token)
    injector.get(token)
    expect(contexts.size).toBe(2)
  })

  it.each(['singleton', 'scoped'] as const)(
    'caches the failure of a %s service until it is invalidated',
    (lifetime) => {
      const failures = [new Error('first'), new Error('second')]
      const factory = vi.fn((): string => {
        const failure = failures.shift()
        if (failure) {
          throw failure
        }
        return 'third time lucky'
      })
      const token = defineService({ name: 'Flaky', lifetime, factory })
      const injector = createInjector()
      const [first, second] = failures
      const attempt = () => injector.get(token)
      expect(attempt).toThrow(first)
      expect(attempt).toThrow(first)
      expect(factory).toHaveBeenCalledTimes(1)
      expect(injector.isResolved(token)).toBe(true)
      injector.invalidate(token)
      expect(injector.isResolved(token)).toBe(false)
      expect(attempt).toThrow(second)
      expect(factory).toHaveBeenCalledTimes(2)
      injector.invalidate(token)
      expect(attempt()).toBe('third time lucky')
    },
  )

  it('runs a failing transient factory for every request', () => {
    const factory = vi.fn(() => {
      throw new Error('no')
    })
    const token = defineService({ name: 'T', lifetime: 'transient', factory })
    const injector = createInjector()
    expect(() => injector.get(token)).toThrow('no')
    expect(() => injector.get(token)).toThrow('no')
    expect(factory).toHaveBeenCalledTimes(2)
    expect(injector.isResolved(token)).toBe(false)
  })

  it('throws what the factory threw, whatever it is', () => {
    const thrown = { code: 'not-an-error' }
    const token = defineService({
      name: 'Odd',
      lifetime: 'singleton',
      factory: () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- code in the wild does this
        throw thrown
      },
    })
    let caught: unknown
    try {
      createInjector().get(token)
    } catch (error) {
      caught = error
    }
    expect(caught).toBe(thrown)
  })
})

describe('async resolution', () => {
  it('shares one run of the factory among concurrent callers', async () => {
    const gate = deferred<object>()
    const factory = vi.fn(() => gate.promise)
    const token = defineServiceAsync({ name: 'Shared', lifetime: 'singleton', factory })
    const root = createInjector()
    const requests = [root.getAsync(token), root.getAsync(token), root.createScope().getAsync(token)]
    expect(root.isResolved(token)).toBe(true)
    const service = {}
    gate.resolve(service)
    const results = await Promise.all([...requests, root.getAsync(token)])
    expect(new Set(results)).toEqual(new Set([service]))
    expect(factory).toHaveBeenCalledTimes(1)
  })

  it('resolves sync tokens through the sync path', async () => {
    const token = defineService({ name: 'Sync', lifetime: 'singleton', factory: () => ({}) })
    const injector = createInjector()
    const service = await injector.getAsync(token)
    expect(injector.get(token)).toBe(service)
  })

  it('reports the failure of a sync token by rejection', async () => {
    const failure = new Error('sync')
    const token = defineService({
      name: 'Sync',
      lifetime: 'singleton',
      factory: () => {
        throw failure
      },
    })
    expect(await reasonOf(createInjector().getAsync(token))).toBe(failure)
  })

  it.each([
    ['rejects', (failure: Error) => Promise.reject(failure)],
    [
      'throws before it returns its promise',
      (failure: Error) => {
        throw failure
      },
    ],
  ])('caches the failure of a factory that %s', async (_, fail: (failure: Error) => Promise<string>) => {
    const failure = new Error('async')
    const factory = vi.fn(() => fail(failure))
    const token = defineServiceAsync({ name: 'Failing', lifetime: 'singleton', factory })
    const injector = createInjector()
    expect(await reasonOf(injector.getAsync(token))).toBe(failure)
    expect(await reasonOf(injector.getAsync(token))).toBe(failure)
    expect(factory).toHaveBeenCalledTimes(1)
    factory.mockResolvedValue('recovered')
    injector.invalidate(token)
    expect(await injector.getAsync(token)).toBe('recovered')
  })

  it('runs a transient factory for every request', async () => {
    const token = defineServiceAsync({ name: 'T', lifetime: 'transient', factory: () => Promise.resolve({}) })
    const injector = createInjector()
    expect(await injector.getAsync(token)).not.toBe(await injector.getAsync(token))
    expect(injector.isResolved(token)).toBe(false)
  })
})

describe('sync tokens in injectAsync', () => {
  it('I3: injectAsync builds an uncached sync service and leaves it usable for everyone', async () => {
    const factory = vi.fn(() => ({ port: 1 }))
    const Config = defineService({ name: 'Config', lifetime: 'singleton', factory })
    const Server = defineServiceAsync({
      name: 'Server',
      lifetime: 'singleton',
      factory: async ({ injectAsync }) => ({ config: await injectAsync(Config) }),
    })
    const injector = createInjector()
    const server = await injector.getAsync(Server)
    expect(server.config).toEqual({ port: 1 })
    expect(injector.get(Config)).toBe(server.config)
    expect(factory).toHaveBeenCalledTimes(1)
  })

  it('I3: injectAsync rejects with the error of a failing sync factory, and get throws the same one', async () => {
    const failure = new Error('broken')
    const Config = defineService({
      name: 'Config',
      lifetime: 'singleton',
      factory: (): string => {
        throw failure
      },
    })
    const Server = defineServiceAsync({
      name: 'Server',
      lifetime: 'singleton',
      factory: ({ injectAsync }) => injectAsync(Config),
    })
    const injector = createInjector()
    expect(await reasonOf(injector.getAsync(Server))).toBe(failure)
    expect(() => injector.get(Config)).toThrow(failure)
  })
})

describe('async tokens in sync requests', () => {
  const defineDatabase = () => {
    const factory = vi.fn(() => Promise.resolve({}))
    return { factory, Database: defineServiceAsync({ name: 'Database', lifetime: 'singleton', factory }) }
  }

  it('are refused by get before, while and after they are resolved', async () => {
    const gate = deferred<object>()
    const { factory, Database } = defineDatabase()
    factory.mockReturnValue(gate.promise)
    const injector = createInjector()
    const get = () => injector.get(asSync(Database))
    expect(get).toThrow(AsyncTokenInSyncContextError)
    expect(factory).not.toHaveBeenCalled()
    const request = injector.getAsync(Database)
    expect(get).toThrow(AsyncTokenInSyncContextError)
    gate.resolve({})
    await request
    expect(get).toThrow(expect.objectContaining({ tokenName: 'Database' }))
  })

  it('I4: inject refuses an uncached async token and does not run its factory', async () => {
    const { factory, Database } = defineDatabase()
    const Repository = defineService({
      name: 'Repository',
      lifetime: 'singleton',
      factory: ({ inject }) => inject(asSync(Database)),
    })
    const injector = createInjector()
    expect(() => injector.get(Repository)).toThrow(AsyncTokenInSyncContextError)
    expect(factory).not.toHaveBeenCalled()
    expect(injector.isResolved(Database)).toBe(false)
    expect(await injector.getAsync(Database)).toEqual({})
  })

  it('I4: inject refuses an async token that is resolved already', async () => {
    const { Database } = defineDatabase()
    const injector = createInjector()
    await injector.getAsync(Database)
    let inject: InjectFn<'singleton'> | undefined
    injector.get(
      defineService({
        name: 'Capture',
        lifetime: 'singleton',
        factory: (ctx) => {
          inject = ctx.inject
        },
      }),
    )
    expect(() => inject?.(asSync(Database))).toThrow(AsyncTokenInSyncContextError)
  })

  it('are refused while pending even under a copy of the token that claims to be sync', async () => {
    const { Database } = defineDatabase()
    const injector = createInjector()
    const request = injector.getAsync(Database)
    expect(() => injector.get({ ...Database, isAsync: false as const })).toThrow(AsyncTokenInSyncContextError)
    await request
  })
})
