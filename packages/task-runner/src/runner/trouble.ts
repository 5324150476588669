import type { Clock } from '../time/clock.js'

/** Since when all has been well with the steps of a store and a queue. */
export class Trouble {
  /** When something was rejected last, by the monotonic clock; its effect may have come about all the same. */
  lastAt = -Infinity

  constructor(private readonly clock: Pick<Clock, 'elapsed'>) {}

  readonly note = (): void => {
    this.lastAt = this.clock.elapsed()
  }
}

/** The same object; `trouble` is told of each rejection of its methods. */
export const watchRejections = <T extends object>(target: T, trouble: Trouble): T => {
  const watched = new Map<PropertyKey, unknown>()
  const watch =
    (method: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      const answer: unknown = Reflect.apply(method, target, args)
      if (answer instanceof Promise) answer.catch(trouble.note)
      return answer
    }
  return new Proxy(target, {
    get: (of, key): unknown => {
      const known = watched.get(key)
      if (known !== undefined) return known
      const member: unknown = Reflect.get(of, key, of)
      if (typeof member !== 'function') return member
      const method = watch(member as (...args: unknown[]) => unknown)
      watched.set(key, method)
      return method
    },
  })
}
