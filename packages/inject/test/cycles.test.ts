import { describe, expect, it, vi } from 'vitest'
import type { AsyncToken, InjectAsyncFn, SyncToken } from '../src/index.js'
import { CircularDependencyError, createInjector, defineService, defineServiceAsync } from '../src/index.js'
import { deferred } from './deferred.js'
import { reasonOf } from './reasonOf.js'

type Registry = { [name: string]: AsyncToken<string, 'singleton'> }

/** Defines async services that refer to each other by name, so that they can form circles. */
const defineGraph = (
  graph: Record<string, (request: (name: string) => Promise<string>, injectAsync: InjectAsyncFn) => Promise<string>>,
): Registry => {
  const tokens: Registry = {}
  for (const [name, factory] of Object.entries(graph)) {
    tokens[name] = defineServiceAsync({
      name,
      lifetime: 'singleton',
      factory: ({ injectAsync }) => factory((other) => injectAsync(tokenIn(tokens, other)), injectAsync),
    })
  }
  return tokens
}

const tokenIn = (tokens: Registry, name: string): AsyncToken<string, 'singleton'> => {
  const token = tokens[name]
  if (!token) {
    throw new Error(`There is no ${name}`)
  }
  return token
}

const pathOf = (error: unknown) => (error instanceof CircularDependencyError ? error.path : error)

describe('cycles of sync services', () => {
  const defineRing = (...names: readonly string[]) => {
    const tokens: SyncToken<string, 'singleton'>[] = names.map((name, index) =>
      defineService({
        name,
        lifetime: 'singleton',
        factory: ({ inject }): string => inject(tokens[(index + 1) % names.length] as SyncToken<string, 'singleton'>),
      }),
    )
    return tokens
  }

  it.each([[['A']], [['A', 'B']], [['A', 'B', 'C']]])('are found in a ring of %j', (names) => {
    const [first] = defineRing(...names)
    const injector = createInjector()
    let caught: unknown
    try {
      injector.get(first as SyncToken<string>)
    } catch (error) {
      caught = error
    }
    expect(pathOf(caught)).toEqual([...names, 'A'])
  })

  it('are found among transient services', () => {
    const T: SyncToken<string> = defineService({
      name: 'T',
      lifetime: 'transient',
      factory: ({ inject }): string => inject(T),
    })
    expect(() => createInjector().get(T)).toThrow(expect.objectContaining({ path: ['T', 'T'] }))
  })

  it('are found when a factory asks an injector directly for the service under construction', () => {
    const A: SyncToken<string> = defineService({
      name: 'A',
      lifetime: 'singleton',
      factory: ({ injector }): string => injector.get(B),
    })
    const B: SyncToken<string> = defineService({
      name: 'B',
      lifetime: 'scoped',
      factory: ({ inject }): string => inject(A),
    })
    expect(() => createInjector().get(A)).toThrow(expect.objectContaining({ path: ['A', 'B', 'A'] }))
    const Self: SyncToken<string> = defineService({
      name: 'Self',
      lifetime: 'singleton',
      factory: ({ injector }): string => injector.get(Self),
    })
    expect(() => createInjector().get(Self)).toThrow(expect.objectContaining({ path: ['Self', 'Self'] }))
  })

  it('are no concern of a service that asks for its dependants later', () => {
    const A: SyncToken<{ other: () => unknown }, 'singleton'> = defineService({
      name: 'A',
      lifetime: 'singleton',
      factory: ({ inject }) => ({ other: () => inject(B) }),
    })
    const B: SyncToken<{ a: unknown }, 'singleton'> = defineService({
      name: 'B',
      lifetime: 'singleton',
      factory: ({ inject }) => ({ a: inject(A) }),
    })
    const a = createInjector().get(A)
    expect(a.other()).toEqual({ a })
  })
})

describe('cycles of async services', () => {
  it('are found across await', async () => {
    const { A } = defineGraph({
      A: async (request) => {
        await Promise.resolve()
        return request('B')
      },
      B: async (request) => {
        await Promise.resolve()
        return request('A')
      },
    })
    const injector = createInjector()
    expect(pathOf(await reasonOf(injector.getAsync(A as AsyncToken<string>)))).toEqual(['A', 'B', 'A'])
  })

  it('are found when a factory awaits itself', async () => {
    const { A } = defineGraph({ A: (request) => request('A') })
    expect(pathOf(await reasonOf(createInjector().getAsync(A as AsyncToken<string>)))).toEqual(['A', 'A'])
  })

  it('are found when they pass through a sync service', async () => {
    const A: AsyncToken<string, 'singleton'> = defineServiceAsync({
      name: 'A',
      lifetime: 'singleton',
      factory: async ({ injectAsync }) => (await injectAsync(B)).a,
    })
    const B: SyncToken<{ a: Promise<string> }, 'singleton'> = defineService({
      name: 'B',
      lifetime: 'singleton',
      factory: ({ injectAsync }) => ({ a: injectAsync(A) }),
    })
    expect(pathOf(await reasonOf(createInjector().getAsync(A)))).toEqual(['A', 'B', 'A'])
  })

  it.each(['singleton', 'transient'] as const)(
    'are found when a %s service hands on a promise it has not waited for',
    async (lifetime) => {
      const gate = deferred()
      // The casts take the transient ones past the compiler, which is right about singletons.
      const A: AsyncToken<string, 'singleton'> = defineServiceAsync({
        name: 'A',
        lifetime: lifetime as 'singleton',
        factory: async ({ injectAsync }) => (await injectAsync(B)).c,
      })
      const B: SyncToken<{ c: Promise<string> }, 'singleton'> = defineService({
        name: 'B',
        lifetime: lifetime as 'singleton',
        factory: ({ injectAsync }) => ({ c: injectAsync(C) }),
      })
      const C: AsyncToken<string, 'singleton'> = defineServiceAsync({
        name: 'C',
        lifetime: lifetime as 'singleton',
        factory: async ({ injectAsync }) => {
          await gate.promise
          return injectAsync(A)
        },
      })
      const injector = createInjector()
      const request = reasonOf(injector.getAsync(A))
      gate.resolve()
      expect(pathOf(await request)).toEqual(['A', 'B', 'C', 'A'])
      await injector[Symbol.asyncDispose]()
    },
  )

  it('are none where a service that is built already asks for a pending one that uses it', async () => {
    const gate = deferred()
    const Registry: SyncToken<{ database: () => Promise<string> }, 'singleton'> = defineService({
      name: 'Registry',
      lifetime: 'singleton',
      factory: ({ injectAsync }) => ({ database: () => injectAsync(Database) }),
    })
    const Database: AsyncToken<string, 'singleton'> = defineServiceAsync({
      name: 'Database',
      lifetime: 'singleton',
      factory: async ({ inject }) => {
        inject(Registry)
        await gate.promise
        return 'database'
      },
    })
    const injector = createInjector()
    const requests = [injector.getAsync(Database), injector.get(Registry).database()]
    gate.resolve()
    expect(await Promise.all(requests)).toEqual(['database', 'database'])
  })

  it('can be survived by a factory that handles the refusal', async () => {
    const { A } = defineGraph({
      A: async (request) => `A(${(await Promise.all([request('B'), request('B')])).join()})`,
      B: (request) => request('A').catch(() => 'alone'),
    })
    const injector = createInjector()
    expect(await injector.getAsync(A as AsyncToken<string>)).toBe('A(alone,alone)')
  })
})

describe('parallel branches', () => {
  it('I1: two services requested in parallel may share a third one', async () => {
    const gate = deferred()
    const built = vi.fn()
    const { A } = defineGraph({
      A: async (request) => (await Promise.all([request('B'), request('C')])).join(),
      B: async (request) => `B${await request('D')}`,
      C: async (request) => `C${await request('D')}`,
      D: async () => {
        built()
        await gate.promise
        return 'D'
      },
    })
    const request = createInjector().getAsync(A as AsyncToken<string>)
    gate.resolve()
    expect(await request).toBe('BD,CD')
    expect(built).toHaveBeenCalledTimes(1)
  })

  it('I1: the same service may be requested twice in parallel', async () => {
    const { A } = defineGraph({
      A: async (request) => (await Promise.all([request('B'), request('B')])).join(),
      B: async () => {
        await Promise.resolve()
        return 'B'
      },
    })
    expect(await createInjector().getAsync(A as AsyncToken<string>)).toBe('B,B')
  })

  it('I1: a transient service may be requested twice in parallel', async () => {
    const T = defineServiceAsync({ name: 'T', lifetime: 'transient', factory: () => Promise.resolve({}) })
    const A = defineServiceAsync({
      name: 'A',
      lifetime: 'transient',
      factory: ({ injectAsync }) => Promise.all([injectAsync(T), injectAsync(T)]),
    })
    const [first, second] = await createInjector().getAsync(A)
    expect(first).not.toBe(second)
  })

  it('I1: a cycle in one branch is still found', async () => {
    const { A } = defineGraph({
      A: async (request) => (await Promise.all([request('B'), request('C')])).join(),
      B: () => Promise.resolve('B'),
      C: (request) => request('A'),
    })
    expect(pathOf(await reasonOf(createInjector().getAsync(A as AsyncToken<string>)))).toEqual(['A', 'C', 'A'])
  })
})

describe('independent resolutions', () => {
  it('I2: both ends of a cycle that were entered independently reject instead of waiting for ever', async () => {
    const gate = deferred()
    const { A, B } = defineGraph({
      A: async (request) => {
        await gate.promise
        return request('B')
      },
      B: async (request) => {
        await gate.promise
        return request('A')
      },
    })
    const injector = createInjector()
    const requests = [injector.getAsync(A as AsyncToken<string>), injector.getAsync(B as AsyncToken<string>)]
    gate.resolve()
    const reasons = await Promise.all(requests.map(reasonOf))
    expect(reasons.map(pathOf)).toEqual([
      ['A', 'B', 'A'],
      ['A', 'B', 'A'],
    ])
  })

  it('I2: a longer circle of independently pending services is found as well', async () => {
    const gates = { A: deferred(), B: deferred(), C: deferred() }
    const { A, B, C } = defineGraph({
      A: async (request) => gates.A.promise.then(() => request('B')),
      B: async (request) => gates.B.promise.then(() => request('C')),
      C: async (request) => gates.C.promise.then(() => request('A')),
    })
    const injector = createInjector()
    const reasons = Promise.all([A, B, C].map((token) => reasonOf(injector.getAsync(token as AsyncToken<string>))))
    gates.A.resolve()
    await gates.A.promise
    gates.B.resolve()
    await gates.B.promise
    gates.C.resolve()
    expect((await reasons).map(pathOf)).toEqual([
      ['A', 'B', 'C', 'A'],
      ['A', 'B', 'C', 'A'],
      ['A', 'B', 'C', 'A'],
    ])
  })

  it('do not disturb each other where they merely meet', async () => {
    const gate = deferred()
    const { A, B } = defineGraph({
      A: async (request) => `A${await request('C')}`,
      B: async (request) => `B${await request('C')}`,
      C: async () => {
        await gate.promise
        return 'C'
      },
    })
    const injector = createInjector()
    const requests = [injector.getAsync(A as AsyncToken<string>), injector.getAsync(B as AsyncToken<string>)]
    gate.resolve()
    expect(await Promise.all(requests)).toEqual(['AC', 'BC'])
  })
})
