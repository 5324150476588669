import { describe, expect, it, vi } from 'vitest'
import type { InjectFn, ServiceContext, SyncToken } from '../src/index.js'
import { CircularDependencyError, createInjector, defineService, defineServiceAsync } from '../src/index.js'
import { deferred } from './deferred.js'
import { reasonOf } from './reasonOf.js'

describe('bind', () => {
  const Name = defineService({ name: 'Name', lifetime: 'singleton', factory: () => 'default' })
  const User = defineService({ name: 'User', lifetime: 'scoped', factory: (): string | null => null })

  it('replaces a singleton for the whole tree, whichever injector is called', () => {
    const root = createInjector()
    const [scope, sibling] = [root.createScope(), root.createScope()]
    expect(scope.get(Name)).toBe('default')
    scope.bind(Name, () => 'bound')
    expect([root, scope, sibling].map((injector) => injector.get(Name))).toEqual(['bound', 'bound', 'bound'])
  })

  it('replaces a scoped service on one injector only', () => {
    const root = createInjector()
    const scope = root.createScope()
    expect([root.get(User), scope.get(User)]).toEqual([null, null])
    scope.bind(User, () => 'ada')
    expect([root.get(User), scope.get(User), scope.createScope().get(User)]).toEqual([null, 'ada', null])
  })

  it('replaces a transient service for requests on one injector only', () => {
    const Id = defineService({ name: 'Id', lifetime: 'transient', factory: () => 'default' })
    const root = createInjector()
    const scope = root.createScope()
    root.bind(Id, () => 'bound')
    expect([root.get(Id), scope.get(Id)]).toEqual(['bound', 'default'])
  })

  it('I17: a scoped override on the root has no effect on the scopes below it', () => {
    const root = createInjector()
    root.bind(User, () => 'root user')
    expect([root.get(User), root.createScope().get(User)]).toEqual(['root user', null])
  })

  it('replaces an async service', async () => {
    const Database = defineServiceAsync({
      name: 'Database',
      lifetime: 'singleton',
      factory: () => Promise.resolve('real'),
    })
    const injector = createInjector()
    expect(await injector.getAsync(Database)).toBe('real')
    injector.bind(Database, () => Promise.resolve('fake'))
    expect(await injector.getAsync(Database)).toBe('fake')
  })

  it('gives the new factory a context of the owner', () => {
    const root = createInjector()
    let ctx: ServiceContext | undefined
    root.createScope().bind(Name, (given) => {
      ctx = given
      return 'bound'
    })
    root.createScope().get(Name)
    expect(ctx?.injector).toBe(root)
    expect(ctx?.token).toBe(Name)
  })
})

describe('invalidate', () => {
  it('runs the bound factory again and not the default one', () => {
    const factory = vi.fn(() => 'default')
    const Name = defineService({ name: 'Name', lifetime: 'singleton', factory })
    const root = createInjector()
    let count = 0
    root.bind(Name, () => `bound ${(count += 1)}`)
    expect(root.get(Name)).toBe('bound 1')
    root.createScope().invalidate(Name)
    expect(root.get(Name)).toBe('bound 2')
    expect(factory).not.toHaveBeenCalled()
  })

  it('does nothing if nothing is cached', () => {
    const Name = defineService({ name: 'Name', lifetime: 'transient', factory: () => 'name' })
    const injector = createInjector()
    injector.invalidate(Name)
    expect(injector.isResolved(Name)).toBe(false)
    expect(injector.get(Name)).toBe('name')
  })

  it('called from the very factory leaves its result uncached', () => {
    const Name: SyncToken<object> = defineService({
      name: 'Name',
      lifetime: 'singleton',
      factory: ({ injector }) => {
        injector.invalidate(Name)
        return {}
      },
    })
    const injector = createInjector()
    expect(injector.get(Name)).not.toBe(injector.get(Name))
  })
})

describe('late results', () => {
  const setUp = () => {
    const gate = deferred<string>()
    const dispose = vi.fn()
    const Service = defineServiceAsync({
      name: 'Service',
      lifetime: 'singleton',
      factory: ({ onDispose }) => {
        onDispose(dispose)
        return gate.promise
      },
    })
    const injector = createInjector()
    return { gate, dispose, Service, injector, early: injector.getAsync(Service) }
  }

  it('I5: a result that arrives after bind does not replace the new instance', async () => {
    const { gate, dispose, Service, injector, early } = setUp()
    injector.bind(Service, () => Promise.resolve('new'))
    expect(await injector.getAsync(Service)).toBe('new')
    expect(dispose).not.toHaveBeenCalled()
    gate.resolve('old')
    expect(await early).toBe('old')
    expect(await injector.getAsync(Service)).toBe('new')
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('I5: a result that arrives after invalidate is not cached', async () => {
    const { gate, Service, injector, early } = setUp()
    injector.invalidate(Service)
    expect(injector.isResolved(Service)).toBe(false)
    gate.resolve('old')
    await early
    expect(injector.isResolved(Service)).toBe(false)
  })

  it('I5: a failure that arrives after bind is not cached either', async () => {
    const { gate, dispose, Service, injector, early } = setUp()
    injector.bind(Service, () => Promise.resolve('new'))
    const failure = new Error('late')
    gate.reject(failure)
    expect(await reasonOf(early)).toBe(failure)
    expect(dispose).toHaveBeenCalledTimes(1)
    expect(await injector.getAsync(Service)).toBe('new')
  })
})

describe('replaced instances', () => {
  const setUp = () => {
    const log: string[] = []
    const firstClosed = deferred()
    let count = 0
    const Connection = defineService({
      name: 'Connection',
      lifetime: 'singleton',
      factory: ({ onDispose }) => {
        const id = (count += 1)
        onDispose(() => {
          log.push(`close ${id}`)
          firstClosed.resolve()
        })
        onDispose(() => void log.push(`flush ${id}`))
        return { id }
      },
    })
    const Repository = defineService({
      name: 'Repository',
      lifetime: 'scoped',
      factory: ({ inject, onDispose }) => {
        const { id } = inject(Connection)
        onDispose(() => void log.push(`leave ${id}`))
        return { id }
      },
    })
    return { log, firstClosed, Connection, Repository, root: createInjector() }
  }

  it('I11: invalidate runs the callbacks of the replaced instance, once', async () => {
    const { log, firstClosed, Connection, root } = setUp()
    root.get(Connection)
    root.invalidate(Connection)
    await firstClosed.promise
    expect(log).toEqual(['flush 1', 'close 1'])
    root.get(Connection)
    await root[Symbol.asyncDispose]()
    expect(log).toEqual(['flush 1', 'close 1', 'flush 2', 'close 2'])
  })

  it('I11: bind starts the first callback before it returns', () => {
    const { log, Connection, root } = setUp()
    root.get(Connection)
    root.bind(Connection, () => ({ id: 0 }))
    expect(log).toEqual(['flush 1'])
  })

  it('I11: repeated invalidation leaves nothing behind for the disposal', async () => {
    const { log, Connection, root } = setUp()
    for (let round = 0; round < 500; round += 1) {
      root.get(Connection)
      root.invalidate(Connection)
    }
    await root[Symbol.asyncDispose]()
    expect(log).toHaveLength(1000)
    expect(new Set(log).size).toBe(1000)
  })

  it('I11: an instance that others were built from stays until the last of them is gone', async () => {
    const { log, Connection, Repository, root } = setUp()
    const [first, second] = [root.createScope(), root.createScope()]
    first.get(Repository)
    second.get(Repository)
    root.invalidate(Connection)
    expect(log).toEqual([])
    expect(root.get(Connection).id).toBe(2)
    await first[Symbol.asyncDispose]()
    expect(log).toEqual(['leave 1'])
    await second[Symbol.asyncDispose]()
    await root[Symbol.asyncDispose]()
    expect(log).toEqual(['leave 1', 'leave 1', 'flush 1', 'close 1', 'flush 2', 'close 2'])
  })

  it('I11: an instance goes after the replaced one that was built from it', async () => {
    const { log, Connection, Repository, root } = setUp()
    root.get(Repository)
    root.invalidate(Connection)
    root.invalidate(Repository)
    await root[Symbol.asyncDispose]()
    expect(log).toEqual(['leave 1', 'flush 1', 'close 1'])
  })

  it('I11: an instance goes after the teardown of the one that was built from it is over', async () => {
    const gate = deferred()
    const log: string[] = []
    const Connection = defineService({
      name: 'Connection',
      lifetime: 'singleton',
      factory: ({ onDispose }) => onDispose(() => void log.push('connection')),
    })
    const Repository = defineService({
      name: 'Repository',
      lifetime: 'singleton',
      factory: ({ inject, onDispose }) => {
        inject(Connection)
        onDispose(() => gate.promise.then(() => void log.push('repository')))
      },
    })
    const Failing = defineService({
      name: 'Failing',
      lifetime: 'singleton',
      factory: ({ inject }) => {
        inject(Repository)
        throw new Error('no')
      },
    })
    const root = createInjector()
    root.get(Repository)
    root.invalidate(Connection)
    // Forgetting this failure must not end the wait early.
    expect(() => root.get(Failing)).toThrow('no')
    root.invalidate(Repository)
    expect(log).toEqual([])
    gate.resolve()
    await root[Symbol.asyncDispose]()
    expect(log).toEqual(['repository', 'connection'])
  })

  it('I11: the disposal runs the callbacks of an instance that is still in use', async () => {
    const { log, Connection, Repository, root } = setUp()
    root.get(Repository)
    root.invalidate(Connection)
    await root[Symbol.asyncDispose]()
    expect(log).toEqual(['leave 1', 'flush 1', 'close 1'])
  })

  it('I11: the disposal waits for callbacks that run already and reports their errors', async () => {
    const gate = deferred()
    const failure = new Error('cannot close')
    const Connection = defineService({
      name: 'Connection',
      lifetime: 'singleton',
      factory: ({ onDispose }) => {
        onDispose(() => gate.promise)
        return 'connection'
      },
    })
    const root = createInjector()
    root.get(Connection)
    root.bind(Connection, () => 'other')
    let over = false
    const disposal = reasonOf(root[Symbol.asyncDispose]()).finally(() => {
      over = true
    })
    await Promise.resolve()
    expect(over).toBe(false)
    gate.reject(failure)
    expect(await disposal).toMatchObject({ errors: [failure] })
  })

  it('I11: errors of early callbacks are kept in limited number', async () => {
    const Connection = defineService({
      name: 'Connection',
      lifetime: 'singleton',
      factory: ({ onDispose }) => {
        onDispose(() => {
          throw new Error('cannot close')
        })
        return 'connection'
      },
    })
    const root = createInjector()
    for (let round = 0; round < 150; round += 1) {
      root.get(Connection)
      root.invalidate(Connection)
    }
    const error = await reasonOf(root[Symbol.asyncDispose]())
    expect((error as AggregateError).errors).toHaveLength(100)
  })

  it('I11: a callback registered for an instance that is gone runs at once', () => {
    let onDispose: ServiceContext['onDispose'] | undefined
    const Service = defineService({
      name: 'Service',
      lifetime: 'singleton',
      factory: (ctx) => {
        onDispose = ctx.onDispose
        return 'service'
      },
    })
    const root = createInjector()
    root.get(Service)
    root.invalidate(Service)
    const callback = vi.fn()
    onDispose?.(callback)
    expect(callback).toHaveBeenCalledTimes(1)
  })
})

describe('failures of dependants', () => {
  const defineRunner = () =>
    defineService({
      name: 'Runner',
      lifetime: 'singleton',
      factory: (): string => {
        throw new Error('not bound')
      },
    })
  const defineWorker = (Runner: SyncToken<string, 'singleton'>) =>
    defineService({ name: 'Worker', lifetime: 'singleton', factory: ({ inject }) => `worker on ${inject(Runner)}` })

  it('I14: binding the dependency mends a dependant that failed because of it', () => {
    const Runner = defineRunner()
    const Worker = defineWorker(Runner)
    const root = createInjector()
    expect(() => root.get(Worker)).toThrow('not bound')
    expect(() => root.get(Worker)).toThrow('not bound')
    root.bind(Runner, () => 'runner')
    expect(root.isResolved(Worker)).toBe(false)
    expect(root.get(Worker)).toBe('worker on runner')
  })

  it('I14: invalidating the dependency is enough', () => {
    const factory = vi.fn((): string => {
      throw new Error('not yet')
    })
    const Runner = defineService({ name: 'Runner', lifetime: 'singleton', factory })
    const Worker = defineWorker(Runner)
    const root = createInjector()
    expect(() => root.get(Worker)).toThrow('not yet')
    factory.mockReturnValue('runner')
    root.invalidate(Runner)
    expect(root.get(Worker)).toBe('worker on runner')
  })

  it('I14: failures are forgotten through several levels and in scopes', async () => {
    const Runner = defineRunner()
    const Worker = defineWorker(Runner)
    const Request = defineServiceAsync({
      name: 'Request',
      lifetime: 'scoped',
      factory: async ({ injectAsync }) => `request by ${await injectAsync(Worker)}`,
    })
    const root = createInjector()
    const scope = root.createScope()
    await reasonOf(scope.getAsync(Request))
    root.bind(Runner, () => 'runner')
    expect(await scope.getAsync(Request)).toBe('request by worker on runner')
  })

  it('I14: dependants that were built successfully stay', () => {
    const Runner = defineService({ name: 'Runner', lifetime: 'singleton', factory: () => 'first' })
    const Worker = defineWorker(Runner)
    const root = createInjector()
    root.get(Worker)
    root.bind(Runner, () => 'second')
    expect(root.get(Worker)).toBe('worker on first')
  })

  it('I14: failures that have nothing to do with the dependency stay', () => {
    const factory = vi.fn((): string => {
      throw new Error('other reason')
    })
    const Other = defineService({ name: 'Other', lifetime: 'singleton', factory })
    const Runner = defineRunner()
    const root = createInjector()
    expect(() => root.get(Other)).toThrow('other reason')
    expect(() => root.get(Runner)).toThrow('not bound')
    root.bind(Runner, () => 'runner')
    expect(() => root.get(Other)).toThrow('other reason')
    expect(factory).toHaveBeenCalledTimes(1)
  })

  it('I14: a failure that arrives after its reason was replaced is not cached', async () => {
    const gate = deferred<string>()
    const Runner = defineServiceAsync({ name: 'Runner', lifetime: 'singleton', factory: () => gate.promise })
    const Worker = defineServiceAsync({
      name: 'Worker',
      lifetime: 'singleton',
      factory: async ({ injectAsync }) => `worker on ${await injectAsync(Runner)}`,
    })
    const root = createInjector()
    const early = root.getAsync(Worker)
    root.bind(Runner, () => Promise.resolve('runner'))
    gate.reject(new Error('unreachable'))
    expect(await reasonOf(early)).toMatchObject({ message: 'unreachable' })
    expect(await root.getAsync(Worker)).toBe('worker on runner')
  })

  it('I14: breaking a cycle at any of its services mends the others', () => {
    const A: SyncToken<string, 'singleton'> = defineService({
      name: 'A',
      lifetime: 'singleton',
      factory: ({ inject }): string => `A(${inject(B)})`,
    })
    const B: SyncToken<string, 'singleton'> = defineService({
      name: 'B',
      lifetime: 'singleton',
      factory: ({ inject }): string => `B(${inject(A)})`,
    })
    for (const [token, other] of [
      [A, 'B(x)'],
      [B, 'A(x)'],
    ] as const) {
      const root = createInjector()
      expect(() => root.get(A)).toThrow(CircularDependencyError)
      root.bind(token, () => 'x')
      expect(root.get(token === A ? B : A)).toBe(other)
    }
  })

  it('I14: a failed dependant is retried at most once per replacement', () => {
    const Runner = defineRunner()
    const attempts = vi.fn((inject: InjectFn<'singleton'>) => inject(Runner))
    const Worker = defineService({
      name: 'Worker',
      lifetime: 'singleton',
      factory: ({ inject }) => attempts(inject),
    })
    const root = createInjector()
    for (let round = 0; round < 3; round += 1) {
      expect(() => root.get(Worker)).toThrow('not bound')
      expect(() => root.get(Worker)).toThrow('not bound')
      root.invalidate(Runner)
    }
    expect(attempts).toHaveBeenCalledTimes(3)
  })
})
