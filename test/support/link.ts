import { deferred } from './deferred.js'

/** One use of a link, by what was asked for and the how-manieth of all uses it is, from 0. */
export interface LinkCall {
  readonly name: string
  readonly index: number
}

/**
 * What happens to a call: its process dies, or it is rejected and all goes on; before it takes effect, or after that and
 * before its answer is seen.
 */
export interface Fault {
  readonly how: 'crash' | 'reject'
  readonly when: 'before' | 'after'
}

/** What a rejected call rejects with. */
export class LinkError extends Error {
  public override readonly name = 'LinkError'
}

/** How a link behaves; by default as if it were not there. */
export interface LinkOptions {
  readonly faultOf?: (call: LinkCall) => Fault | undefined
  /** How long a call is on its way, asked for each way of each call, in milliseconds. */
  readonly latencyMs?: () => number
  /** Called in the instant of the death, before anything else happens. */
  readonly onDeath?: () => void
}

/**
 * All that leads from one process to what outlives it: its store, its queue, its Redis. When the process dies here,
 * nothing goes out any more and nothing comes back, which to everybody else is what a `SIGKILL` at that moment is.
 */
export class Link {
  /** Each use, in order, by name. */
  readonly names: string[] = []
  readonly #died = deferred()
  readonly #buried = deferred<never>()
  #isDead = false
  #held: ReturnType<typeof deferred<void>> | undefined

  constructor(private readonly options: LinkOptions = {}) {
    this.#buried.promise.catch(() => undefined) // mostly nobody waits for it
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Resolves when the process has died. */
  get died(): Promise<void> {
    return this.#died.promise
  }

  /** The process dies. */
  die(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.options.onDeath?.()
    this.#died.resolve()
  }

  /** Tells the remains of a dead process that there is nothing to wait for, so that they can be cleared away. */
  bury(): void {
    this.die()
    this.#buried.reject(new LinkError('the process is dead'))
  }

  /** From now on everything waits, both ways, as if the process had been stopped. */
  hold(): void {
    this.#held ??= deferred()
  }

  resume(): void {
    this.#held?.resolve()
    this.#held = undefined
  }

  /** Does something over the link. Once the process is dead it settles only with the burial. */
  async call<T>(name: string, effect: () => Promise<T>): Promise<T> {
    if (this.#isDead) return this.#buried.promise
    const fault = this.options.faultOf?.({ name, index: this.names.length })
    this.names.push(name)
    if (!(await this.#travel())) return this.#buried.promise
    if (fault?.when === 'before') return this.#strike(fault, name)
    const answer = await outcomeOf(effect)
    if (fault !== undefined) return this.#strike(fault, name)
    if (!(await this.#travel())) return this.#buried.promise
    if ('error' in answer) throw answer.error
    return answer.value
  }

  /** Answers whether the process is still alive at the end of the way. */
  async #travel(): Promise<boolean> {
    const ms = this.options.latencyMs?.() ?? 0
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
    while (this.#held !== undefined && !this.#isDead) await this.#held.promise
    return !this.#isDead
  }

  #strike({ how, when }: Fault, name: string): Promise<never> {
    if (how === 'reject') return Promise.reject(new LinkError(`${name} was rejected ${when} it took effect`))
    this.die()
    return this.#buried.promise
  }
}

const outcomeOf = async <T>(effect: () => Promise<T>): Promise<{ value: T } | { error: unknown }> => {
  try {
    return { value: await effect() }
  } catch (error) {
    return { error }
  }
}

/** The same thing, each of whose methods goes over the link. */
export const overLink = <T extends object>(target: T, link: Link): T =>
  new Proxy(target, {
    get(of, key): unknown {
      const member: unknown = Reflect.get(of, key, of)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) =>
        link.call(String(key), () => Promise.resolve(Reflect.apply(member, of, args) as unknown))
    },
  })
