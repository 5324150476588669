import type { AnyFactory } from './anyFactory.js'
import type { AnyToken } from './anyToken.js'
import type { Container } from './container.js'
import { createContext } from './createContext.js'
import { deferred } from './deferred.js'
import type { DisposeCallback } from './disposeCallback.js'
import type { TeardownStep } from './teardown.js'

/** `building` is a sync factory that is on the stack right now, `pending` an async one that has not settled. */
type Phase = 'building' | 'pending' | 'resolved' | 'failed'

/**
 * How another instance relates to this one. `uses`: it requested this one while being built. `started`: this one is in
 * flight, but the other is built already and passes on the promise at most. `refused`: there would be a cycle.
 */
type Relation = 'uses' | 'started' | 'refused'

/**
 * One run of a factory and what came of it, together with its teardown steps and its place in the dependency graph.
 * A bind or invalidate never changes an instance into another one; it supersedes it. Therefore a late result can only
 * reach its own instance.
 *
 * The relations serve three purposes: finding cycles, dropping failures whose reason was replaced, and keeping a
 * superseded instance until those built from it are gone.
 *
 * @example
 * const build = (container: Container): unknown => {
 *   const instance = new Instance(container, Clock)
 *   instance.build(() => ({ now: () => 0 }))
 *   return instance.outcome
 * }
 */
export class Instance {
  /** Those that requested this instance. */
  public readonly dependants = new Map<Instance, Relation>()
  /** The service, or what the factory threw. */
  public outcome: unknown
  public phase: Phase = 'building'
  /** Settles with the outcome of an async factory. */
  public promise: Promise<unknown> | undefined
  /** Whether new requests get another instance. */
  public superseded = false
  readonly #dependencies = new Set<Instance>()
  readonly #steps: TeardownStep[] = []
  #released = false
  #tornDown = false

  constructor(
    public readonly container: Container,
    public readonly token: AnyToken<unknown>,
  ) {}

  /** Whether the factory is still at work. */
  public get inFlight(): boolean {
    return this.phase === 'building' || this.phase === 'pending'
  }

  /** Runs the factory. Never throws: a failure becomes the outcome. */
  public build(factory: AnyFactory): void {
    const run = () => factory(createContext(this))
    if (this.token.isAsync) {
      const { promise, resolve } = deferred<unknown>()
      this.phase = 'pending'
      this.promise = promise
      resolve(this.#settle(run))
      return
    }
    let service: unknown
    try {
      service = run()
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#succeed(service)
  }

  /** Records that this instance requested another one. What it requests once it is built is no part of its making. */
  public relateTo(dependency: Instance, relation: 'uses' | 'refused'): void {
    if (!this.inFlight) {
      return
    }
    this.#dependencies.add(dependency)
    if (dependency.dependants.get(this) !== 'uses') {
      dependency.dependants.set(this, relation)
    }
  }

  /** Queues a teardown step, or runs it at once if the time of this instance is over. */
  public onDispose(callback: DisposeCallback): void {
    const { teardown } = this.container
    // What a running factory registers waits for the factory to settle: it may still be using what the step closes.
    if (this.#released || (teardown.begun && !this.inFlight)) {
      teardown.runNow(callback)
    } else {
      this.#steps.push(teardown.add(callback))
    }
  }

  /** Declares that new requests get another instance, and lets go of this one as soon as nothing is built from it. */
  public supersede(): void {
    this.superseded = true
    if (this.phase !== 'failed') {
      this.#releaseIfUnused()
    } else if (this.#tornDown) {
      this.detach()
    }
  }

  /** Leaves the dependency graph, which may be what superseded dependencies have been waiting for. */
  public detach(): void {
    this.container.forget(this)
    this.#dependencies.forEach((dependency) => this.#unlink(dependency))
  }

  #unlink(dependency: Instance): void {
    this.#dependencies.delete(dependency)
    dependency.dependants.delete(this)
    dependency.#releaseIfUnused()
    if (this.token.lifetime === 'transient' && !this.inFlight && this.#dependencies.size === 0) {
      this.container.forget(this)
    }
  }

  async #settle(run: () => unknown): Promise<unknown> {
    let service: unknown
    try {
      service = await run()
    } catch (error) {
      this.#fail(error)
      throw error
    }
    this.#succeed(service)
    return service
  }

  #succeed(service: unknown): void {
    this.phase = 'resolved'
    this.outcome = service
    for (const dependency of this.#dependencies) {
      if (dependency.inFlight && dependency.dependants.get(this) === 'uses') {
        dependency.dependants.set(this, 'started')
      } else if (this.token.lifetime === 'transient' || dependency.phase !== 'resolved') {
        // The factory coped without it; or nobody knows how long this instance is used, so it cannot keep anything.
        this.#unlink(dependency)
      }
    }
    this.#endStarts()
    this.#releaseIfUnused()
  }

  #fail(error: unknown): void {
    this.phase = 'failed'
    this.outcome = error
    if (this.#isOutdated()) {
      // The reason of the failure was replaced meanwhile: the next request deserves a new attempt.
      this.superseded = true
      this.container.evict(this)
    }
    this.#endStarts()
    this.#release(() => {
      if (this.superseded || this.token.lifetime === 'transient') {
        this.detach()
      } else {
        this.#dependencies.forEach((dependency) => dependency.#releaseIfUnused())
      }
    })
  }

  #endStarts(): void {
    for (const [dependant, relation] of this.dependants) {
      if (relation === 'started') {
        dependant.#unlink(this)
      }
    }
  }

  #isOutdated(): boolean {
    return this.superseded || [...this.#dependencies].some((dependency) => dependency.superseded)
  }

  #releaseIfUnused(): void {
    const isUsed = [...this.dependants].some(([dependant, relation]) => relation === 'uses' && !dependant.#tornDown)
    if (this.superseded && this.phase === 'resolved' && !isUsed) {
      this.#release(() => this.detach())
    }
  }

  #release(then: () => void): void {
    if (this.#released) {
      return
    }
    this.#released = true
    this.container.teardown.release(this.#steps, () => {
      this.#tornDown = true
      then()
    })
  }
}
