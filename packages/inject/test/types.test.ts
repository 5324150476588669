import { describe, expectTypeOf, it } from 'vitest'
import type {
  AnyToken,
  AsyncServiceFactory,
  AsyncToken,
  InjectFn,
  Injector,
  Lifetime,
  ServiceContext,
  ServiceFactory,
  ServiceOf,
  SyncToken,
  Token,
} from '../src/index.js'
import { createInjector, defineService, defineServiceAsync, isToken, withScope } from '../src/index.js'

type Service = { readonly value: number }

const Singleton = defineService({ name: 'Singleton', lifetime: 'singleton', factory: (): Service => ({ value: 1 }) })
const Scoped = defineService({ name: 'Scoped', lifetime: 'scoped', factory: (): Service => ({ value: 2 }) })
const Transient = defineService({ name: 'Transient', lifetime: 'transient', factory: (): Service => ({ value: 3 }) })
const Async = defineServiceAsync({
  name: 'Async',
  lifetime: 'singleton',
  factory: (): Promise<Service> => Promise.resolve({ value: 4 }),
})
const AsyncScoped = defineServiceAsync({
  name: 'AsyncScoped',
  lifetime: 'scoped',
  factory: (): Promise<Service> => Promise.resolve({ value: 5 }),
})

/** Code that is to be checked by the compiler but not to run. */
const compileOnly = (_code: (injector: Injector) => unknown) => {}

describe('tokens', () => {
  it('carry the service, the lifetime and the kind', () => {
    expectTypeOf(Singleton).toEqualTypeOf<Token<Service, 'singleton', false>>()
    expectTypeOf(Async).toEqualTypeOf<Token<Service, 'singleton', true>>()
    expectTypeOf<ServiceOf<typeof Scoped>>().toEqualTypeOf<Service>()
    expectTypeOf<ServiceOf<typeof Async>>().toEqualTypeOf<Service>()
    expectTypeOf<ServiceOf<string>>().toEqualTypeOf<never>()
  })

  it('default to any lifetime and to sync', () => {
    expectTypeOf<Token<Service>>().toEqualTypeOf<Token<Service, Lifetime, false>>()
    expectTypeOf<SyncToken<Service>>().toEqualTypeOf<Token<Service, Lifetime, false>>()
    expectTypeOf<AsyncToken<Service>>().toEqualTypeOf<Token<Service, Lifetime, true>>()
    expectTypeOf<AnyToken<Service>>().toEqualTypeOf<SyncToken<Service> | AsyncToken<Service>>()
  })

  it('of a certain lifetime are accepted where any will do', () => {
    expectTypeOf<Token<Service, 'singleton'>>().toExtend<SyncToken<Service>>()
    expectTypeOf<typeof Async>().toExtend<AnyToken<unknown>>()
    expectTypeOf<SyncToken<Service>>().not.toExtend<Token<Service, 'singleton'>>()
  })

  it('are recognised by isToken', () => {
    compileOnly((injector) => {
      const value: unknown = Singleton
      if (isToken(value)) {
        expectTypeOf(value).toEqualTypeOf<Token<unknown, Lifetime, boolean>>()
        return injector.getAsync(value)
      }
      return undefined
    })
  })
})

describe('factories', () => {
  it('of singletons inject singletons and nothing else', () => {
    const inject = null as unknown as ServiceContext<'singleton'>
    compileOnly(() => {
      expectTypeOf(inject.inject(Singleton)).toEqualTypeOf<Service>()
      expectTypeOf(inject.injectAsync(Singleton)).toEqualTypeOf<Promise<Service>>()
      expectTypeOf(inject.injectAsync(Async)).toEqualTypeOf<Promise<Service>>()
      // @ts-expect-error -- a scoped service does not live as long as a singleton
      inject.inject(Scoped)
      // @ts-expect-error -- neither does a transient one
      inject.inject(Transient)
      // @ts-expect-error -- and the kind of the token makes no difference
      void inject.injectAsync(AsyncScoped)
      // @ts-expect-error -- an async token needs injectAsync
      inject.inject(Async)
    })
    compileOnly(() =>
      defineService({
        name: 'Sound',
        lifetime: 'singleton',
        factory: (ctx) => ctx.inject(Singleton).value,
      }),
    )
    compileOnly(() =>
      defineService({
        name: 'Unsound',
        lifetime: 'singleton',
        // @ts-expect-error -- the lifetime of the definition narrows the context
        factory: (ctx) => ctx.inject(Scoped).value,
      }),
    )
  })

  it('of scoped and transient services inject anything sync', () => {
    compileOnly(() =>
      defineService({
        name: 'Scope',
        lifetime: 'scoped',
        // The transient one is refused only at run time.
        factory: ({ inject }) => [inject(Singleton), inject(Scoped), inject(Transient)],
      }),
    )
    compileOnly(() =>
      defineServiceAsync({
        name: 'Transience',
        lifetime: 'transient',
        factory: async ({ inject, injectAsync }) => [inject(Transient), await injectAsync(AsyncScoped)],
      }),
    )
    expectTypeOf<InjectFn<'scoped'>>().toEqualTypeOf<InjectFn<'transient'>>()
  })

  it('that do not know their lifetime inject singletons only', () => {
    const sound: ServiceFactory<Service> = ({ inject }) => inject(Singleton)
    // @ts-expect-error -- the factory might serve a singleton
    const unsound: ServiceFactory<Service> = ({ inject }) => inject(Scoped)
    const soundAsync: AsyncServiceFactory<Service> = ({ injectAsync }) => injectAsync(Async)
    // @ts-expect-error -- the factory might serve a singleton
    const unsoundAsync: AsyncServiceFactory<Service> = ({ injectAsync }) => injectAsync(AsyncScoped)
    expectTypeOf([sound, unsound]).toEqualTypeOf<ServiceFactory<Service>[]>()
    expectTypeOf([soundAsync, unsoundAsync]).toEqualTypeOf<AsyncServiceFactory<Service>[]>()
  })

  it('that do not know their lifetime serve every definition', () => {
    const factory: ServiceFactory<Service> = () => ({ value: 0 })
    compileOnly(() => [
      defineService({ name: 'a', lifetime: 'singleton', factory }),
      defineService({ name: 'b', lifetime: 'scoped', factory }),
      defineService({ name: 'c', lifetime: 'transient', factory }),
    ])
  })

  it('get a context with the members they need', () => {
    expectTypeOf<ServiceContext['injector']>().toEqualTypeOf<Injector>()
    expectTypeOf<ServiceContext['token']>().toEqualTypeOf<AnyToken<unknown>>()
    expectTypeOf<ServiceContext['onDispose']>().toEqualTypeOf<(callback: () => void | Promise<void>) => void>()
    compileOnly(() => (ctx: ServiceContext) => ctx.onDispose(async () => {}))
  })

  it('must match the kind of their definition', () => {
    // @ts-expect-error -- an async service needs a promise
    compileOnly(() => defineServiceAsync({ name: 'a', lifetime: 'scoped', factory: () => 1 }))
    // @ts-expect-error -- a lifetime has no default
    compileOnly(() => defineService({ name: 'a', factory: () => 1 }))
  })
})

describe('injectors', () => {
  it('resolve sync tokens by get and both kinds by getAsync', () => {
    compileOnly((injector) => {
      expectTypeOf(injector.get(Scoped)).toEqualTypeOf<Service>()
      expectTypeOf(injector.get<Service>(Singleton)).toEqualTypeOf<Service>()
      expectTypeOf(injector.getAsync(Singleton)).toEqualTypeOf<Promise<Service>>()
      expectTypeOf(injector.getAsync<Service>(Async)).toEqualTypeOf<Promise<Service>>()
      // @ts-expect-error -- an async token needs getAsync
      injector.get(Async)
    })
  })

  it('bind factories of the right kind', () => {
    compileOnly((injector) => {
      injector.bind(Singleton, () => ({ value: 1, more: true }))
      injector.bind(Scoped, ({ inject }) => inject(Singleton))
      injector.bind(Async, ({ injectAsync }) => injectAsync(Singleton))
      // @ts-expect-error -- a sync token needs the service itself
      injector.bind(Singleton, async () => Promise.resolve({ value: 1 }))
      // @ts-expect-error -- an async token needs a promise
      injector.bind(Async, () => ({ value: 1 }))
      // @ts-expect-error -- the service must be complete
      injector.bind(Singleton, () => ({}))
      // @ts-expect-error -- the context of a bound factory is that of an unknown lifetime
      injector.bind(Scoped, ({ inject }) => inject(Scoped))
    })
  })

  it('take tokens of either kind where the service does not matter', () => {
    compileOnly((injector) => {
      injector.invalidate(Singleton)
      injector.invalidate(Async)
      expectTypeOf(injector.isResolved(AsyncScoped)).toEqualTypeOf<boolean>()
    })
  })

  it('are async disposable', () => {
    expectTypeOf<Injector>().toExtend<AsyncDisposable>()
    compileOnly(async () => {
      await using injector = createInjector()
      return injector.createScope({ owner: 1 })
    })
    expectTypeOf<Injector['parent']>().toEqualTypeOf<Injector | null>()
    expectTypeOf<Injector['owner']>().toBeUnknown()
  })
})

describe('withScope', () => {
  it('resolves to what the function returns', () => {
    compileOnly((injector) => {
      expectTypeOf(withScope(injector, () => 1)).toEqualTypeOf<Promise<number>>()
      expectTypeOf(withScope(injector, (scope) => scope.getAsync(Async))).toEqualTypeOf<Promise<Service>>()
    })
  })
})
