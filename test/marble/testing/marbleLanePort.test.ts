import { type Observable, of } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { lane, type LanePort } from '../../../src/index.js'
import {
  claimOf,
  listenReply,
  marbleLanePort,
  promoteReply,
  readReply,
  sweepReply,
} from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const mail = lane('mail', 1)
const claim = claimOf('w-slot-0')
const reading = { workerId: 'w', slots: ['w-slot-0'], lanes: [] }

const askAll = (port: LanePort): Observable<unknown>[] => [
  port.read(reading),
  port.sweep(reading),
  port.listen({ ...reading, schedule: false, blockMs: 1 }),
  port.wake('w'),
  port.promote({ promoterId: 'w', roleMs: 1, limit: 1 }),
  port.settle(claim, { kind: 'done' }),
  port.extend([claim]),
  port.handBack([claim]),
  port.enqueue({ taskId: 'a', lane: mail }),
  port.knownLanes(),
  port.retire({ slots: [], lanes: [], goneMs: 0 }),
  port.lease({ type: 'mail', key: 'k', taskId: 'a' }),
]

describe('marbleLanePort', () => {
  it('answers with the marbles that it was given', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const reply$ = cold('--(r|)', { r: readReply([claim]) })
      const port = marbleLanePort({ read: () => reply$ })

      expectObservable(port.read(reading)).toBe('--(r|)', { r: readReply([claim]) })
      expectSubscriptions(reply$.subscriptions).toBe('^-!')
    })
  })

  it('gives each operation its arguments', () => {
    const given: unknown[] = []
    const port = marbleLanePort({
      settle: (...call) => {
        given.push(call)
        return of('lost')
      },
    })

    port.settle(claim, { kind: 'requeue', delayMs: 5 }).subscribe()

    expect(given).toEqual([[claim, { kind: 'requeue', delayMs: 5 }]])
  })

  it('errors where it was given nothing, and names the operation', () => {
    const port = marbleLanePort()
    const messages: string[] = []

    for (const reply$ of askAll(port))
      reply$.subscribe({
        error: (error: unknown) => {
          messages.push(error instanceof Error ? error.message : String(error))
        },
      })

    expect(messages).toEqual(
      Object.keys(port.calls).map(
        (operation) => `marbleLanePort: ${operation} was asked but not given; pass { ${operation}: () => … }`,
      ),
    )
  })

  it('records calls when they are subscribed to, each time', () => {
    const port = marbleLanePort({ read: () => of(readReply()), sweep: () => of(sweepReply()) })
    const reply$ = port.read(reading)
    expect(port.calls.read).toEqual([])

    reply$.subscribe()
    reply$.subscribe()
    port.sweep({ ...reading, slots: [] }).subscribe()

    expect(port.calls.read).toEqual([[reading], [reading]])
    expect(port.demands()).toEqual([['w-slot-0'], ['w-slot-0']])
    expect(port.demands('sweep')).toEqual([[]])
  })
})

describe('builders', () => {
  it('make a claim of the slot’s worker', () => {
    expect(claimOf('node-1-slot-12')).toMatchObject({ slot: 'node-1-slot-12', workerId: 'node-1', lane: mail })
    expect(claimOf('w-slot-0', { taskId: 'b', deliveryCount: 3 })).toMatchObject({ taskId: 'b', deliveryCount: 3 })
  })

  it('make replies that say that all is well', () => {
    expect(readReply()).toEqual({ claims: [], full: [] })
    expect(sweepReply([claim])).toEqual({ claims: [claim], nextStaleMs: 60_000, positions: new Map() })
    expect(listenReply([claim], { bell: 'lanes' })).toEqual({ claims: [claim], full: [], bell: 'lanes' })
    expect(promoteReply({ nextDueMs: 5 })).toEqual({ isPromoter: true, moved: 0, knownLanes: 1, nextDueMs: 5 })
  })
})
