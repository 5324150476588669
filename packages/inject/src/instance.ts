import type { AnyFactory } from './anyFactory.js'
import type { AnyToken } from './anyToken.js'
import type { Container } from './container.js'
import { createContext } from './createContext.js'
import { deferred } from './deferred.js'
import type { DisposeCallback } from './disposeCallback.js'
import type { TeardownStep } from './teardown.js'

/** `building` is a sync factory that is on the stack right now, `pending` an async one that has not settled. */
type Phase = 'building' | 'pending' | 'resolved' | 'failed'

/** How another instance relates to this one: it was given it (or waits for it), or was refused it because of a cycle. */
type Relation = 'uses' | 'refused'

/**
 * One run of a factory and what came of it, together with its teardown steps and its place in the dependency graph.
 * A bind or invalidate never changes an instance into another one; it supersedes it. Therefore a late result can only
 * reach its own instance.
 *
 * Relations are recorded while the factory runs. They serve three purposes: finding cycles among instances in flight,
 * dropping failures whose reason was replaced, and keeping a superseded instance until those built from it are gone.
 *
 * @example
 * const instance = new Instance(container, token)
 * instance.build(token.factory)
 */
export class Instance {
  /** Those that requested this instance while they were being built. */
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

  /** Records that this instance requested another one. Later requests are no part of how it was built. */
  public relateTo(dependency: Instance, relation: Relation): void {
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
    for (const dependency of this.#dependencies) {
      this.#dependencies.delete(dependency)
      dependency.dependants.delete(this)
      dependency.#releaseIfUnused()
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
    if (this.token.lifetime === 'transient') {
      // Nobody knows how long a transient instance is used, so it cannot keep anything.
      this.detach()
      return
    }
    for (const dependency of this.#dependencies) {
      if (dependency.phase !== 'resolved') {
        // The factory coped without it.
        this.#dependencies.delete(dependency)
        dependency.dependants.delete(this)
      }
    }
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
    this.#release(() => {
      if (this.superseded || this.token.lifetime === 'transient') {
        this.detach()
      } else {
        this.#dependencies.forEach((dependency) => dependency.#releaseIfUnused())
      }
    })
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
