import {
  asapScheduler,
  defer,
  EMPTY,
  finalize,
  identity,
  ignoreElements,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  observeOn,
  of,
} from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type ClaimSource, fillSlots } from '../../../src/index.js'
import { claimOf } from '../../../src/testing/index.js'

const slots = ['w-slot-0', 'w-slot-1']
const claims = slots.map((slot) => claimOf(slot))
const many = 100_000

/** How much a subscription has to take down, which is what would grow if anything were left behind. */
const sizeOf = (subscription: object): number => {
  const teardowns: unknown = Reflect.get(subscription, '_finalizers')
  return Array.isArray(teardowns) ? teardowns.length : 0
}

describe('fillSlots, for long', () => {
  it.each<[string, MonoTypeOperatorFunction<string>]>([
    ['end at once', identity],
    ['end in the next turn', observeOn(asapScheduler)],
    ['never emit', ignoreElements()],
  ])('goes through 100,000 works that %s, and leaves nothing behind', async (_, ending) => {
    let worked = 0
    const source: ClaimSource = (demand) =>
      worked < many ? of(...claims.filter(({ slot }) => demand.includes(slot))) : NEVER
    const work = (): Observable<string> =>
      of('x').pipe(
        ending,
        finalize(() => worked++),
      )

    const subscription = fillSlots(source, work, { slots }).subscribe()
    while (worked < many) await new Promise((resolve) => setImmediate(resolve))

    expect(sizeOf(subscription)).toBeLessThan(10)
    subscription.unsubscribe()
  })

  it('leaves nothing behind of empty claims either', async () => {
    let asked = 0
    const source: ClaimSource = () => defer(() => (asked++, EMPTY))

    const subscription = fillSlots(source, () => EMPTY, { slots, emptyPauseMs: 0 }).subscribe()
    while (asked < 200) await new Promise((resolve) => setImmediate(resolve))

    expect(sizeOf(subscription)).toBeLessThan(10)
    subscription.unsubscribe()
  })
})
