import { describe, expect, it, vi } from 'vitest'
import type { DisposeCallback, Injector, Lifetime, ServiceContext, SyncToken } from '../src/index.js'
import { createInjector, defineService, defineServiceAsync, InjectorDisposedError } from '../src/index.js'
import { deferred } from './deferred.js'
import { reasonOf } from './reasonOf.js'

/** A service that does nothing but register the given callbacks. */
const withCallbacks = (...callbacks: readonly DisposeCallback[]) =>
  defineService({
    name: 'WithCallbacks',
    lifetime: 'scoped',
    factory: ({ onDispose }) => {
      callbacks.forEach(onDispose)
      return {}
    },
  })

/** A service that hands out the context it was built with. */
const Context: SyncToken<ServiceContext> = defineService({
  name: 'Context',
  lifetime: 'scoped',
  factory: (ctx): ServiceContext => ctx,
})

describe('disposal', () => {
  it('runs callbacks in reverse order, each awaited before the next', async () => {
    const log: string[] = []
    const gate = deferred()
    const reached = deferred()
    const token = withCallbacks(
      () => void log.push('first'),
      async () => {
        log.push('second begins')
        reached.resolve()
        await gate.promise
        log.push('second ends')
      },
      () => void log.push('third'),
    )
    const injector = createInjector()
    injector.get(token)
    const disposal = injector[Symbol.asyncDispose]()
    await reached.promise
    expect(log).toEqual(['third', 'second begins'])
    gate.resolve()
    await disposal
    expect(log).toEqual(['third', 'second begins', 'second ends', 'first'])
  })

  it('takes dependants down before what they use', async () => {
    const log: string[] = []
    const First = defineService({
      name: 'First',
      lifetime: 'singleton',
      factory: ({ onDispose }) => onDispose(() => void log.push('first')),
    })
    const Second = defineService({
      name: 'Second',
      lifetime: 'singleton',
      factory: ({ inject, onDispose }) => {
        inject(First)
        onDispose(() => void log.push('second'))
      },
    })
    const injector = createInjector()
    injector.get(Second)
    await injector[Symbol.asyncDispose]()
    expect(log).toEqual(['second', 'first'])
  })

  it('registers the callbacks of a singleton on the root, whichever scope asks', async () => {
    const dispose = vi.fn()
    const token = defineService({
      name: 'S',
      lifetime: 'singleton',
      factory: ({ onDispose }) => onDispose(dispose),
    })
    const root = createInjector()
    const scope = root.createScope()
    scope.get(token)
    await scope[Symbol.asyncDispose]()
    expect(dispose).not.toHaveBeenCalled()
    await root[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('runs every callback and reports all failures in run order', async () => {
    const errors = [new Error('sync'), new Error('async')] as const
    const last = vi.fn()
    const token = withCallbacks(
      last,
      () => Promise.reject(errors[1]),
      () => {
        throw errors[0]
      },
    )
    const injector = createInjector()
    injector.get(token)
    const reason = await reasonOf(injector[Symbol.asyncDispose]())
    expect(reason).toBeInstanceOf(AggregateError)
    expect((reason as AggregateError).errors).toEqual(errors)
    expect(last).toHaveBeenCalledTimes(1)
  })

  it('counts as begun from the first moment', async () => {
    let caught: unknown
    const injector = createInjector()
    const token = withCallbacks(() => {
      try {
        injector.get(Context)
      } catch (error) {
        caught = error
      }
    })
    injector.get(token)
    const disposal = injector[Symbol.asyncDispose]()
    expect(() => injector.get(token)).toThrow(InjectorDisposedError)
    await disposal
    expect(caught).toBeInstanceOf(InjectorDisposedError)
  })

  it('makes every member but getAsync throw', async () => {
    const injector = createInjector()
    await injector[Symbol.asyncDispose]()
    const uses: readonly ((injector: Injector) => unknown)[] = [
      (it) => it.get(Context),
      (it) => it.bind(Context, (ctx) => ctx),
      (it) => it.invalidate(Context),
      (it) => it.isResolved(Context),
      (it) => it.createScope(),
    ]
    uses.forEach((use) => expect(() => use(injector)).toThrow(InjectorDisposedError))
  })

  it('makes getAsync reject', async () => {
    const Async = defineServiceAsync({ name: 'Async', lifetime: 'scoped', factory: () => Promise.resolve(1) })
    const injector = createInjector()
    await injector[Symbol.asyncDispose]()
    expect(await reasonOf(injector.getAsync(Context))).toBeInstanceOf(InjectorDisposedError)
    expect(await reasonOf(injector.getAsync(Async))).toBeInstanceOf(InjectorDisposedError)
  })

  it('leaves alone what was not registered', async () => {
    const dispose = vi.fn()
    const token = defineService({
      name: 'Disposable',
      lifetime: 'singleton',
      factory: () => ({ [Symbol.dispose]: dispose, [Symbol.asyncDispose]: dispose }),
    })
    const injector = createInjector()
    injector.get(token)
    await injector[Symbol.asyncDispose]()
    expect(dispose).not.toHaveBeenCalled()
  })

  it('happens at the end of a block with await using', async () => {
    const dispose = vi.fn()
    {
      await using injector = createInjector()
      injector.get(withCallbacks(dispose))
    }
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('runs a function that was registered twice as often', async () => {
    const dispose = vi.fn()
    const injector = createInjector()
    injector.get(withCallbacks(dispose, dispose))
    await injector[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(2)
  })
})

describe('disposal of a tree', () => {
  it('I6: live children are disposed before the parent, newest first', async () => {
    const log: string[] = []
    const root = createInjector()
    const addTo = (injector: Injector, name: string) => {
      injector.get(withCallbacks(() => void log.push(name)))
      return injector
    }
    const older = addTo(root.createScope(), 'older')
    addTo(older.createScope(), 'grandchild')
    addTo(root.createScope(), 'newer')
    addTo(root, 'root')
    await root[Symbol.asyncDispose]()
    expect(log).toEqual(['newer', 'grandchild', 'older', 'root'])
    expect(() => older.get(Context)).toThrow(InjectorDisposedError)
  })

  it('I6: a child that was disposed on its own is not disposed again', async () => {
    const dispose = vi.fn()
    const root = createInjector()
    const scope = root.createScope()
    scope.get(
      withCallbacks(dispose, () => {
        throw new Error('reported once')
      }),
    )
    expect(await reasonOf(scope[Symbol.asyncDispose]())).toBeInstanceOf(AggregateError)
    await root[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('I6: the parent waits for a child whose disposal is under way', async () => {
    const gate = deferred()
    const log: string[] = []
    const root = createInjector()
    const scope = root.createScope()
    scope.get(withCallbacks(() => gate.promise.then(() => void log.push('scope'))))
    root.get(withCallbacks(() => void log.push('root')))
    const disposals = [scope[Symbol.asyncDispose](), root[Symbol.asyncDispose]()]
    gate.resolve()
    await Promise.all(disposals)
    expect(log).toEqual(['scope', 'root'])
  })

  it('I6: failures of children are reported together with those of the parent', async () => {
    const fail = (message: string) => () => Promise.reject(new Error(message))
    const root = createInjector()
    root.createScope().get(withCallbacks(fail('second'), fail('first')))
    root.get(withCallbacks(fail('third')))
    const reason = await reasonOf(root[Symbol.asyncDispose]())
    const messages = ((reason as AggregateError).errors as Error[]).map(({ message }) => message)
    expect(messages).toEqual(['first', 'second', 'third'])
  })
})

describe('use after disposal', () => {
  it('I7: a child of a disposed root builds nothing any more', async () => {
    const factory = vi.fn(() => ({}))
    const Singleton = defineService({ name: 'S', lifetime: 'singleton', factory })
    const root = createInjector()
    const gate = deferred()
    root.createScope().get(withCallbacks(() => gate.promise))
    const older = root.createScope()
    const disposal = root[Symbol.asyncDispose]()
    // The turn of this child has not come yet.
    expect(() => older.get(Singleton)).toThrow(InjectorDisposedError)
    expect(() => older.get(Context)).toThrow(InjectorDisposedError)
    expect(() => older.createScope()).toThrow(InjectorDisposedError)
    gate.resolve()
    await disposal
    expect(() => older.get(Singleton)).toThrow(InjectorDisposedError)
    expect(factory).not.toHaveBeenCalled()
  })

  it('I7: captured context functions are refused', async () => {
    const Other = defineService({ name: 'Other', lifetime: 'singleton', factory: () => 'other' })
    const injector = createInjector()
    const { inject, injectAsync } = injector.get(Context)
    expect(inject(Other)).toBe('other')
    await injector[Symbol.asyncDispose]()
    expect(() => inject(Other)).toThrow(InjectorDisposedError)
    expect(await reasonOf(injectAsync(Other))).toBeInstanceOf(InjectorDisposedError)
  })
})

describe('late callbacks', () => {
  it('I8: a callback registered by another callback runs at once and is awaited', async () => {
    const gate = deferred()
    const log: string[] = []
    const injector = createInjector()
    const { onDispose } = injector.get(Context)
    injector.get(
      withCallbacks(() => {
        onDispose(async () => {
          log.push('late begins')
          await gate.promise
          log.push('late ends')
        })
        log.push('callback ends')
        gate.resolve()
      }),
    )
    await injector[Symbol.asyncDispose]()
    expect(log).toEqual(['late begins', 'callback ends', 'late ends'])
  })

  it('I8: the error of such a callback is part of the report', async () => {
    const failure = new Error('late')
    const injector = createInjector()
    const { onDispose } = injector.get(Context)
    injector.get(withCallbacks(() => onDispose(() => Promise.reject(failure))))
    expect(await reasonOf(injector[Symbol.asyncDispose]())).toMatchObject({ errors: [failure] })
  })

  it('I8: a callback registered after the disposal runs at once', async () => {
    const injector = createInjector()
    const { onDispose } = injector.get(Context)
    await injector[Symbol.asyncDispose]()
    const callback = vi.fn()
    onDispose(callback)
    expect(callback).toHaveBeenCalledTimes(1)
  })

  it('I8: a callback registered by a late async factory runs once the factory is through', async () => {
    const gate = deferred()
    const log: string[] = []
    const Late = defineServiceAsync({
      name: 'Late',
      lifetime: 'singleton',
      factory: async ({ onDispose }) => {
        await gate.promise
        onDispose(() => void log.push('closed'))
        await Promise.resolve()
        log.push('opened')
      },
    })
    const injector = createInjector()
    const request = injector.getAsync(Late)
    const disposal = injector[Symbol.asyncDispose]()
    gate.resolve()
    await disposal
    await request
    expect(log).toEqual(['opened', 'closed'])
  })
})

describe('pending factories', () => {
  const setUp = <L extends Lifetime>(lifetime: L) => {
    const gate = deferred<string>()
    const log: string[] = []
    const Connection = defineServiceAsync({
      name: 'Connection',
      lifetime,
      factory: async ({ onDispose }) => {
        onDispose(() => void log.push('closed'))
        const connection = await gate.promise
        log.push('opened')
        return connection
      },
    })
    return { gate, log, Connection, injector: createInjector() }
  }

  it.each(['singleton', 'scoped', 'transient'] as const)('I9: disposal waits for a pending %s', async (lifetime) => {
    const { gate, log, Connection, injector } = setUp(lifetime)
    const request = injector.getAsync(Connection)
    const disposal = injector[Symbol.asyncDispose]().then(() => log.push('disposed'))
    gate.resolve('connection')
    await disposal
    expect(log).toEqual(['opened', 'closed', 'disposed'])
    expect(await request).toBe('connection')
  })

  it('I9: the failure of a pending factory is none of the disposal', async () => {
    const { gate, log, Connection, injector } = setUp('singleton')
    const request = reasonOf(injector.getAsync(Connection))
    const disposal = injector[Symbol.asyncDispose]()
    const failure = new Error('refused')
    gate.reject(failure)
    await disposal
    expect(log).toEqual(['closed'])
    expect(await request).toBe(failure)
  })

  it('I9: what a pending factory is built from goes after it', async () => {
    const { gate, log, Connection, injector } = setUp('singleton')
    const Pool = defineServiceAsync({
      name: 'Pool',
      lifetime: 'singleton',
      factory: async ({ injectAsync, onDispose }) => {
        const connection = await injectAsync(Connection)
        onDispose(() => void log.push('drained'))
        return [connection]
      },
    })
    const request = injector.getAsync(Pool)
    const disposal = injector[Symbol.asyncDispose]()
    gate.resolve('connection')
    await disposal
    await request
    expect(log).toEqual(['opened', 'drained', 'closed'])
  })

  it('I9: a factory may start the disposal that waits for it', async () => {
    const log: string[] = []
    let disposal: Promise<void> | undefined
    const Fatal = defineService({
      name: 'Fatal',
      lifetime: 'singleton',
      factory: ({ injector, onDispose }) => {
        disposal = injector[Symbol.asyncDispose]()
        onDispose(() => void log.push('closed'))
        log.push('built')
      },
    })
    createInjector().get(Fatal)
    await disposal
    expect(log).toEqual(['built', 'closed'])
  })
})

describe('repeated disposal', () => {
  it('I10: a second call returns the promise of the running disposal', async () => {
    const gate = deferred()
    const dispose = vi.fn(() => gate.promise)
    const injector = createInjector()
    injector.get(withCallbacks(dispose))
    const first = injector[Symbol.asyncDispose]()
    expect(injector[Symbol.asyncDispose]()).toBe(first)
    gate.resolve()
    await first
    await injector[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(1)
  })

  it('I10: both callers learn of a failure, a call after the end does not', async () => {
    const injector = createInjector()
    injector.get(withCallbacks(() => Promise.reject(new Error('no'))))
    const reasons = await Promise.all([
      reasonOf(injector[Symbol.asyncDispose]()),
      reasonOf(injector[Symbol.asyncDispose]()),
    ])
    expect(reasons[0]).toBeInstanceOf(AggregateError)
    expect(reasons[1]).toBe(reasons[0])
    await injector[Symbol.asyncDispose]()
  })
})

describe('callbacks of transient instances', () => {
  const define = (dispose: DisposeCallback) =>
    defineService({
      name: 'Transient',
      lifetime: 'transient',
      factory: ({ onDispose }) => {
        onDispose(dispose)
        return {}
      },
    })

  it('I12: they run with the injector that was asked, once for each instance', async () => {
    const dispose = vi.fn()
    const token = define(dispose)
    const injector = createInjector()
    injector.get(token)
    injector.get(token)
    expect(dispose).not.toHaveBeenCalled()
    await injector[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(2)
  })

  it('I12: a scope bounds them, nothing is left to the root', async () => {
    const dispose = vi.fn()
    const token = define(dispose)
    const root = createInjector()
    for (let round = 0; round < 20; round += 1) {
      await using scope = root.createScope()
      scope.get(token)
    }
    expect(dispose).toHaveBeenCalledTimes(20)
    await root[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(20)
  })

  it('I12: those of an instance that failed to construct are gone with it', async () => {
    const dispose = vi.fn()
    const token = defineService({
      name: 'Transient',
      lifetime: 'transient',
      factory: ({ onDispose }) => {
        onDispose(dispose)
        throw new Error('half built')
      },
    })
    const injector = createInjector()
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(() => injector.get(token)).toThrow('half built')
      expect(dispose).toHaveBeenCalledTimes(attempt)
    }
    await injector[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(3)
  })

  it('I12: a transient instance does not keep a replaced dependency alive', async () => {
    const dispose = vi.fn()
    const Connection = defineService({
      name: 'Connection',
      lifetime: 'singleton',
      factory: ({ onDispose }) => onDispose(dispose),
    })
    const Query = defineService({
      name: 'Query',
      lifetime: 'transient',
      factory: ({ inject }) => inject(Connection),
    })
    const injector = createInjector()
    injector.get(Query)
    injector.invalidate(Connection)
    expect(dispose).toHaveBeenCalledTimes(1)
    await injector[Symbol.asyncDispose]()
    expect(dispose).toHaveBeenCalledTimes(1)
  })
})

describe('callbacks of failed factories', () => {
  it('I13: they run when a sync factory fails, newest first, and never again', async () => {
    const log: string[] = []
    let attempts = 0
    const token = defineService({
      name: 'Flaky',
      lifetime: 'singleton',
      factory: ({ onDispose }) => {
        const attempt = (attempts += 1)
        onDispose(() => void log.push(`close ${attempt}`))
        if (attempt === 1) {
          throw new Error('half built')
        }
        return attempt
      },
    })
    const injector = createInjector()
    expect(() => injector.get(token)).toThrow('half built')
    expect(log).toEqual(['close 1'])
    injector.invalidate(token)
    expect(injector.get(token)).toBe(2)
    await injector[Symbol.asyncDispose]()
    expect(log).toEqual(['close 1', 'close 2'])
  })

  it('I13: they have begun when the rejection of an async factory arrives', async () => {
    const log: string[] = []
    const token = defineServiceAsync({
      name: 'Flaky',
      lifetime: 'singleton',
      factory: async ({ onDispose }) => {
        onDispose(() => void log.push('first'))
        onDispose(() => void log.push('second'))
        await Promise.resolve()
        throw new Error('half built')
      },
    })
    const injector = createInjector()
    expect(await reasonOf(injector.getAsync(token))).toMatchObject({ message: 'half built' })
    expect(log[0]).toBe('second')
    await injector[Symbol.asyncDispose]()
    expect(log).toEqual(['second', 'first'])
  })

  it('I13: their own errors do not hide the failure and are reported by the disposal', async () => {
    const closing = new Error('cannot close')
    const token = defineService({
      name: 'Failing',
      lifetime: 'singleton',
      factory: ({ onDispose }) => {
        onDispose(() => {
          throw closing
        })
        throw new Error('half built')
      },
    })
    const injector = createInjector()
    expect(() => injector.get(token)).toThrow('half built')
    expect(await reasonOf(injector[Symbol.asyncDispose]())).toMatchObject({ errors: [closing] })
  })
})
