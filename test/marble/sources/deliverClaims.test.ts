import { of, take } from 'rxjs'
import { describe, expect, it } from 'vitest'

import type { LaneEvent } from '../../../src/index.js'
import { deliverClaims } from '../../../src/sources/deliverClaims.js'
import { claimOf, marbleLanePort, readReply } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const a = claimOf('w-slot-0', { taskId: 'a' })
const b = claimOf('w-slot-1', { taskId: 'b' })
const claims = { a, b }
const replies = { n: readReply(), o: readReply([a]), m: readReply([a, b]) }

const unexpected = (event: LaneEvent): void => {
  throw new Error(`nothing is to be told, but ${event.kind}`)
}

describe('deliverClaims', () => {
  it.each([
    ['never', '-----', '-----', '^----'],
    ['an empty reply', '--(n|)', '--|', '^-!'],
    ['one claim', '--(o|)', '--(a|)', '^-!'],
    ['many claims', '--(m|)', '--(ab|)', '^-!'],
    ['an error', '--#', '--#', '^-!'],
    ['a reply that does not complete', '--m--', '--(ab)', '^----'],
    ['claims, then an error', '--o--#', '--a--#', '^----!'],
    ['several replies', '--o--(n|)', '--a--|', '^----!'],
    ['completion without a reply', '--|', '--|', '^-!'],
  ])('delivers %s', (_, reply, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const reply$ = cold(reply, replies)
      const port = marbleLanePort()

      expectObservable(deliverClaims(port, reply$, unexpected)).toBe(expected, claims)
      expectSubscriptions(reply$.subscriptions).toBe(subscription)
      flush()

      expect(port.calls.handBack).toEqual([])
    })
  })

  it('asks afresh with each subscription', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const reply$ = cold('--(o|)', replies)
      const delivered$ = deliverClaims(marbleLanePort(), reply$, unexpected)

      expectObservable(delivered$).toBe('--(a|)', claims)
      expectObservable(delivered$, '---^').toBe('-----(a|)', claims)
      expectSubscriptions(reply$.subscriptions).toBe(['^-!', '---^-!'])
    })
  })

  it('hands back what arrives when nobody listens any more', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const reply$ = cold('---(m|)', replies)
      const returned$ = cold('--(v|)', { v: undefined })
      const port = marbleLanePort({ handBack: () => returned$ })
      const told: LaneEvent[] = []

      expectObservable(
        deliverClaims(port, reply$, (event) => told.push(event)),
        '-!',
      ).toBe('-')
      expectSubscriptions(reply$.subscriptions).toBe('^--!')
      expectSubscriptions(returned$.subscriptions).toBe('---^-!')
      flush()

      expect(port.calls.handBack).toEqual([[[a, b]]])
      expect(told).toEqual([{ kind: 'handedBack', claims: [a, b] }])
    })
  })

  it('hands back the claims behind the one that was enough', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = marbleLanePort({ handBack: () => cold('|') })

      expectObservable(deliverClaims(port, cold('--(m|)', replies)).pipe(take(1))).toBe('--(a|)', claims)
      flush()

      expect(port.calls.handBack).toEqual([[[b]]])
    })
  })

  it('hands nothing back when an empty or failed reply arrives late', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = marbleLanePort()

      expectObservable(deliverClaims(port, cold('---(n|)', replies), unexpected), '-!').toBe('-')
      expectObservable(deliverClaims(port, cold('---#', replies), unexpected), '-!').toBe('-')
      flush()

      expect(port.calls.handBack).toEqual([])
    })
  })

  it('tells of claims that could not be handed back', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const told: LaneEvent[] = []
      const port = marbleLanePort({ handBack: () => cold('-#', undefined, 'away') })
      const delivered$ = deliverClaims(port, cold('---(m|)', replies), (event) => told.push(event))

      expectObservable(delivered$, '-!').toBe('-')
      flush()

      expect(told).toEqual([{ kind: 'brokerError', activity: 'handBack', error: 'away', restMs: 0 }])
    })
  })

  it('delivers 100,000 claims of one reply', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => claimOf(`w-slot-${String(index)}`))
    let delivered = 0

    deliverClaims(marbleLanePort(), of(readReply(many)), unexpected).subscribe(() => delivered++)

    expect(delivered).toBe(100_000)
  })
})
