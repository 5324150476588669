import type { AnyFactory } from './anyFactory.js'
import type { AnyToken } from './anyToken.js'
import type { AsyncServiceFactory } from './asyncServiceFactory.js'
import type { AsyncToken } from './asyncToken.js'
import { Container } from './container.js'
import type { CreateScopeOptions } from './createScopeOptions.js'
import type { ServiceFactory } from './serviceFactory.js'
import type { SyncToken } from './syncToken.js'

/**
 * Resolves services by their tokens, caches them by their lifetimes and takes them down again. Injectors form a tree:
 * the root owns the singletons, every injector owns the scoped and transient services it was asked for. Roots are made
 * by `createInjector`, scopes by `createScope` or `withScope`.
 *
 * Once its disposal or that of an ancestor has begun, every member but `parent`, `owner` and the disposal itself raises
 * `InjectorDisposedError`: `getAsync` as a rejection, the others synchronously.
 *
 * @example
 * await using injector = createInjector()
 * injector.bind(Clock, () => ({ now: () => 0 }))
 * injector.get(Clock).now() // 0
 */
export class Injector implements AsyncDisposable {
  /** The injector this one is a scope of, `null` on a root. */
  public readonly parent: Injector | null
  /** What the scope was made for, as given to `createScope`. */
  public readonly owner: unknown
  readonly #container: Container

  constructor(options: { parent?: Injector; owner?: unknown } = {}) {
    this.parent = options.parent ?? null
    this.owner = options.owner
    this.#container = new Container(this, options.parent ? options.parent.#container : null)
  }

  /**
   * Resolves a service synchronously. Throws `AsyncTokenInSyncContextError` for an async token, `CircularDependencyError`
   * or `InvalidLifetimeDependencyError` if the service is wired up wrongly, and otherwise whatever the factory throws,
   * unwrapped. A failure is remembered like a service: the next request gets the same error until `bind` or
   * `invalidate`.
   *
   * @example
   * const clock = injector.get(Clock)
   */
  public get<S>(token: SyncToken<S>): S {
    return this.#container.resolve(token)
  }

  /**
   * Resolves a service of either kind. Concurrent callers share one run of the factory. Every failure, that of a
   * disposed injector included, is a rejection; the reasons are those of `get`.
   *
   * @example
   * const database = await injector.getAsync(Database)
   */
  public getAsync<S>(token: AnyToken<S>): Promise<S> {
    return this.#container.resolveAsync(token)
  }

  /**
   * Replaces the factory of a service. For a singleton this applies to the whole tree, whichever injector is called. For
   * a scoped or transient service it applies to this very injector and to neither its parents nor its children: a scoped
   * override bound on the root has no effect on the scopes below it, so bind such services in each scope.
   *
   * The next request runs the new factory. What the old one has built is released: its teardown steps run at once, or
   * as soon as it is built, or when the last service built from it is gone; errors of these steps are reported by the
   * disposal of the owner. Failures of services that depended on it are forgotten, services that were built from it
   * successfully are kept.
   *
   * @example
   * injector.bind(Clock, () => ({ now: () => 0 }))
   */
  public bind<S>(token: SyncToken<S>, factory: ServiceFactory<NoInfer<S>>): void
  public bind<S>(token: AsyncToken<S>, factory: AsyncServiceFactory<NoInfer<S>>): void
  public bind(token: AnyToken<unknown>, factory: AnyFactory): void {
    this.#container.bind(token, factory)
  }

  /**
   * Makes the next request run the factory again, after a failure for instance. It chooses the owner and releases the
   * old instance as `bind` does, and keeps what was bound. Nothing happens if nothing is cached.
   *
   * @example
   * injector.invalidate(Database)
   */
  public invalidate(token: AnyToken<unknown>): void {
    this.#container.invalidate(token)
  }

  /**
   * Tells whether the owner has the service in its cache: resolved, pending or failed. Always false for transient ones.
   *
   * @example
   * if (injector.isResolved(Database)) await (await injector.getAsync(Database)).query('CHECKPOINT')
   */
  public isResolved(token: AnyToken<unknown>): boolean {
    return this.#container.isResolved(token)
  }

  /**
   * Makes a child with its own scoped services and its own overrides. The child is disposed with this injector at the
   * latest; until then the parent keeps a reference to it, so dispose scopes that are no longer needed.
   *
   * @example
   * await using scope = injector.createScope({ owner: 'GET /tasks' })
   */
  public createScope(options: CreateScopeOptions = {}): Injector {
    return new Injector({ parent: this, owner: options.owner })
  }

  /**
   * Disposes the children, newest first, waits for factories that are still at work and then runs the teardown steps in
   * the reverse order of their registration, each awaited before the next.
   *
   * A failing step does not stop the others; the promise then rejects with an `AggregateError` of all failures,
   * including those of the children and of instances released earlier. A second call returns the promise of the running
   * disposal, and does nothing once that is over. As the disposal waits for factories and steps, neither must wait for
   * it in turn.
   *
   * @example
   * process.once('SIGTERM', () => void injector[Symbol.asyncDispose]())
   */
  public [Symbol.asyncDispose](): Promise<void> {
    return this.#container.dispose()
  }
}
