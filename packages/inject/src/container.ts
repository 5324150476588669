import type { AnyFactory } from './anyFactory.js'
import type { AnyToken } from './anyToken.js'
import { assertLifetimes } from './assertLifetimes.js'
import { assertNoCycle } from './assertNoCycle.js'
import { AsyncTokenInSyncContextError } from './asyncTokenInSyncContextError.js'
import { failedDependantsOf } from './failedDependantsOf.js'
import type { Injector } from './injector.js'
import { InjectorDisposedError } from './injectorDisposedError.js'
import { Instance } from './instance.js'
import { Teardown } from './teardown.js'

/**
 * The works behind an injector: what it caches, what is bound on it and how it is taken down.
 *
 * @example
 * const container = new Container(injector, null)
 * container.resolve(Clock)
 */
export class Container {
  public readonly teardown = new Teardown()
  readonly #parent: Container | null
  readonly #root: Container
  readonly #cache = new Map<symbol, Instance>()
  readonly #overrides = new Map<symbol, AnyFactory>()
  /** Everything with a place in the dependency graph: the cached instances, those in flight and superseded ones. */
  readonly #instances = new Set<Instance>()
  readonly #children = new Set<Container>()
  #disposal: Promise<void> | undefined
  #isDisposed = false

  constructor(
    public readonly injector: Injector,
    parent: Container | null,
  ) {
    this.#parent = parent
    this.#root = parent ? parent.#root : this
    if (parent) {
      parent.assertAlive()
      parent.#children.add(this)
    }
  }

  /** Throws `InjectorDisposedError` once this container or an ancestor is disposed, or about to be. */
  public assertAlive(): void {
    if (this.#disposal) {
      throw new InjectorDisposedError()
    }
    this.#parent?.assertAlive()
  }

  /** Resolves a sync token, on behalf of the instance whose factory asks for it, if any. */
  public resolve<S>(token: AnyToken<S>, requester?: Instance): S {
    this.#assertAllowed(token, requester)
    if (token.isAsync) {
      throw new AsyncTokenInSyncContextError(token.name)
    }
    const instance = this.#ownerOf(token).#obtain(token, requester)
    if (instance.phase === 'pending') {
      throw new AsyncTokenInSyncContextError(token.name)
    }
    return outcomeOf<S>(instance)
  }

  /** The same for tokens of either kind. Being async, it turns every failure into a rejection. */
  public async resolveAsync<S>(token: AnyToken<S>, requester?: Instance): Promise<S> {
    if (!token.isAsync) {
      return this.resolve(token, requester)
    }
    this.#assertAllowed(token, requester)
    const instance = this.#ownerOf(token).#obtain(token, requester)
    await instance.promise
    return outcomeOf<S>(instance)
  }

  /** Installs an override on the owner and drops what the previous factory has built. */
  public bind(token: AnyToken<unknown>, factory: AnyFactory): void {
    this.assertAlive()
    const owner = this.#ownerOf(token)
    owner.#overrides.set(token.id, factory)
    owner.#drop(token)
  }

  /** Drops the cached instance. */
  public invalidate(token: AnyToken<unknown>): void {
    this.assertAlive()
    this.#ownerOf(token).#drop(token)
  }

  /** Whether a request would be answered from the cache. */
  public isResolved(token: AnyToken<unknown>): boolean {
    this.assertAlive()
    const instance = this.#ownerOf(token).#cache.get(token.id)
    return instance !== undefined && instance.phase !== 'building'
  }

  /** Takes an instance out of the cache, unless its place is taken by another one already. */
  public evict(instance: Instance): void {
    if (this.#cache.get(instance.token.id) === instance) {
      this.#cache.delete(instance.token.id)
    }
  }

  /** Forgets an instance that has left the dependency graph. */
  public forget(instance: Instance): void {
    this.#instances.delete(instance)
  }

  /** Disposes the children and then this container. */
  public dispose(): Promise<void> {
    if (this.#isDisposed) {
      return Promise.resolve()
    }
    this.#disposal ??= this.#dispose()
    return this.#disposal
  }

  #assertAllowed(token: AnyToken<unknown>, requester: Instance | undefined): void {
    this.assertAlive()
    if (requester) {
      assertLifetimes(requester.token, token)
    }
  }

  #ownerOf(token: AnyToken<unknown>): Container {
    return token.lifetime === 'singleton' ? this.#root : this
  }

  /** Finds the cached instance or builds one. */
  #obtain(token: AnyToken<unknown>, requester: Instance | undefined): Instance {
    const cached = this.#cache.get(token.id)
    if (!cached || cached.inFlight) {
      assertNoCycle(token, requester, this, cached)
    }
    const instance = cached ?? new Instance(this, token)
    requester?.relateTo(instance, 'uses')
    if (!cached) {
      this.#instances.add(instance)
      if (token.lifetime !== 'transient') {
        this.#cache.set(token.id, instance)
      }
      instance.build(this.#overrides.get(token.id) ?? token.factory)
    }
    return instance
  }

  #drop(token: AnyToken<unknown>): void {
    const instance = this.#cache.get(token.id)
    if (!instance) {
      return
    }
    for (const dropped of [instance, ...failedDependantsOf(instance)]) {
      dropped.container.evict(dropped)
      dropped.supersede()
    }
  }

  async #dispose(): Promise<void> {
    this.teardown.begin()
    for (const child of [...this.#children].reverse()) {
      // A disposal rejects with nothing but the AggregateError below.
      await child.dispose().catch(({ errors }: { errors: readonly unknown[] }) => this.teardown.note(...errors))
    }
    await this.#settleInFlight()
    const errors = await this.teardown.finish()
    this.#instances.forEach((instance) => instance.detach())
    this.#cache.clear()
    this.#overrides.clear()
    if (this.#parent) {
      this.#parent.#children.delete(this)
    }
    this.#isDisposed = true
    if (errors.length > 0) {
      throw new AggregateError(errors, `${errors.length} dispose callback(s) failed`)
    }
  }

  async #settleInFlight(): Promise<void> {
    for (;;) {
      const inFlight = [...this.#instances].filter((instance) => instance.inFlight)
      if (inFlight.length === 0) {
        return
      }
      await Promise.allSettled(inFlight.map(({ promise }) => promise ?? Promise.resolve()))
    }
  }
}

const outcomeOf = <S>(instance: Instance): S => {
  if (instance.phase === 'failed') {
    throw instance.outcome
  }
  // The instance was looked up by the token that carries S.
  return instance.outcome as S
}
