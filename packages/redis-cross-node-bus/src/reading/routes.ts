import { type Observable, Subject } from 'rxjs'
import { Route } from './route.js'
import type { Subscriber } from './subscriber.js'

/** A subscriber whose position in the stream is not known yet. */
export type Newcomer = { readonly route: Route; readonly subscriber: Subscriber }

/** Which streams are read for whom: one route a stream, however many handlers it has. */
export class Routes {
  readonly #routes = new Map<string, Route>()
  readonly #newcomers$ = new Subject<Newcomer>()
  readonly #changes$ = new Subject<void>()

  /** Who comes from now on. */
  readonly newcomers$: Observable<Newcomer> = this.#newcomers$.asObservable()

  /** There is something else to read than before. */
  readonly changes$: Observable<void> = this.#changes$.asObservable()

  get isEmpty(): boolean {
    return this.#routes.size === 0
  }

  get(key: string): Route | undefined {
    return this.#routes.get(key)
  }

  *[Symbol.iterator](): Generator<Route, void, undefined> {
    yield* this.#routes.values()
  }

  /** Those who still wait for their position. */
  newcomers(): Newcomer[] {
    return [...this.#routes.values()].flatMap((route) =>
      [...route.subscribers]
        .filter(({ position }) => position === undefined)
        .map((subscriber) => ({ route, subscriber })),
    )
  }

  add(key: string, subscriber: Subscriber, now: number): Disposable {
    const route = this.#routes.get(key) ?? new Route(key, now)
    this.#routes.set(key, route)
    route.subscribers.add(subscriber)
    this.#newcomers$.next({ route, subscriber })
    return {
      [Symbol.dispose]: () => {
        subscriber.setReady()
        if (!route.subscribers.delete(subscriber) || route.subscribers.size > 0) return
        if (this.#routes.get(key) === route) this.#routes.delete(key)
      },
    }
  }

  /** The answer of the stream to a newcomer, who may have left. */
  begin({ route, subscriber }: Newcomer, position: string): void {
    if (!route.subscribers.has(subscriber)) return
    route.begin(subscriber, position)
    this.#changes$.next()
  }

  /** Ends every subscription. */
  clear(): void {
    for (const { subscribers } of this.#routes.values()) {
      for (const subscriber of subscribers) subscriber.setReady()
      subscribers.clear()
    }
    this.#routes.clear()
  }
}
