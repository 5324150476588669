import { callGuarded } from './callGuarded.js'
import type { ListenerErrorPayload } from './listenerErrorPayload.js'

/**
 * Typed events with synchronous delivery. `Events` maps each event's name to the type of its payload; every hub also
 * has `onListenerError`, whether or not `Events` lists it.
 *
 * A listener cannot harm the emitter or its siblings: what it throws, or what its promise rejects with, is emitted as
 * `onListenerError`. If nobody listens to that, or a listener of `onListenerError` fails itself, it is written to
 * `console.error`.
 *
 * @example
 * ```ts
 * class ShopEvents extends EventHub<{ onSold: { article: string; amount: number } }> {}
 *
 * const events = new ShopEvents()
 * using subscription = events.subscribe('onSold', ({ article }) => console.log(article))
 * events.emit('onSold', { article: 'tea', amount: 2 })
 * ```
 */
export class EventHub<Events extends object> implements Disposable {
  /** The lists are replaced, never changed, so that an emission may iterate over the one it found. */
  readonly #registrations = new Map<PropertyKey, readonly Registration[]>()
  #disposed = false

  /**
   * Calls `listener` for every later emission of `event`, in the order of registration. The same function may be added
   * several times and is then called as often. Has no effect on a disposed hub.
   */
  addListener<Name extends keyof HubEvents<Events>>(event: Name, listener: Listener<Events, Name>): void {
    this.#add(event, listener)
  }

  /** Takes back the latest registration of `listener` for `event`. Does nothing if there is none. */
  removeListener<Name extends keyof HubEvents<Events>>(event: Name, listener: Listener<Events, Name>): void {
    const registration = this.#registrations.get(event)?.findLast((candidate) => candidate.listener === listener)
    if (registration) this.#remove(event, registration)
  }

  /**
   * Like {@link addListener}, but returns the handle that ends this one registration. Disposing it is idempotent and
   * takes effect at once, even in the midst of an emission.
   */
  subscribe<Name extends keyof HubEvents<Events>>(event: Name, listener: Listener<Events, Name>): Disposable {
    const registration = this.#add(event, listener)
    return { [Symbol.dispose]: () => this.#remove(event, registration) }
  }

  /**
   * Calls the listeners of `event` one after the other before it returns, and never throws. Listeners added meanwhile
   * wait for the next emission.
   */
  emit<Name extends keyof HubEvents<Events>>(event: Name, payload: HubEvents<Events>[Name]): void {
    const registrations = this.#registrations.get(event)
    if (!registrations) return
    for (const registration of registrations) {
      if (!registration.active) continue
      callGuarded(
        () => registration.listener(payload as never),
        (error) => this.#listenerFailed(event, error),
      )
    }
  }

  /** Whether anybody listens to `event`; spares the emitter the work of building a payload for nobody. */
  hasListeners(event: keyof HubEvents<Events>): boolean {
    return this.#registrations.has(event)
  }

  /** Removes every listener for good. Later emissions reach nobody. */
  [Symbol.dispose](): void {
    this.#disposed = true
    for (const registration of [...this.#registrations.values()].flat()) registration.active = false
    this.#registrations.clear()
  }

  #add(event: PropertyKey, listener: StoredListener): Registration {
    const registration = { listener, active: !this.#disposed }
    if (registration.active) this.#registrations.set(event, [...(this.#registrations.get(event) ?? []), registration])
    return registration
  }

  #remove(event: PropertyKey, registration: Registration): void {
    registration.active = false
    const remaining = this.#registrations.get(event)?.filter((candidate) => candidate !== registration) ?? []
    if (remaining.length > 0) this.#registrations.set(event, remaining)
    else this.#registrations.delete(event)
  }

  #listenerFailed(event: PropertyKey, error: unknown): void {
    // A failing error listener must not be told of its own failure, or the two would go on for ever.
    if (event !== 'onListenerError' && this.hasListeners('onListenerError')) {
      const payload: ListenerErrorPayload = { event: String(event), error }
      this.emit('onListenerError', payload as HubEvents<Events>['onListenerError'])
    } else {
      console.error(`A listener of "${String(event)}" failed`, error)
    }
  }
}

type HubEvents<Events extends object> = Events & { readonly onListenerError: ListenerErrorPayload }

type Listener<Events extends object, Name extends keyof HubEvents<Events>> = (
  payload: HubEvents<Events>[Name],
) => unknown

type StoredListener = (payload: never) => unknown

type Registration = { readonly listener: StoredListener; active: boolean }
