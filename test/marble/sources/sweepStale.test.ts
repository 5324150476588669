import { EMPTY, of } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { lane, type LaneEvent, type LaneReading, sweepStale } from '../../../src/index.js'
import { claimOf, marbleLanePort, sweepReply } from '../../../src/testing/index.js'
import { marbles } from '../../support/marbles.js'

const mail: LaneReading = { lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }
const lanes = (): readonly LaneReading[] => [mail]
const slots = ['w-slot-0', 'w-slot-1']
const a = claimOf('w-slot-0', { taskId: 'a', deliveryCount: 2 })
const b = claimOf('w-slot-1', { taskId: 'b', deliveryCount: 2 })
const values = { a, b }
const replies = { n: sweepReply(), o: sweepReply([a]), m: sweepReply([a, b]) }

describe('sweepStale', () => {
  it.each([
    ['never', '-----', '-----', '^----'],
    ['an empty reply', '--(n|)', '--|', '^-!'],
    ['one entry', '--(o|)', '--(a|)', '^-!'],
    ['many entries', '--(m|)', '--(ab|)', '^-!'],
    ['a refusal', '--#', '--#', '^-!'],
  ])('passes on %s', (_, reply, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const reply$ = cold(reply, replies)
      const port = marbleLanePort({ sweep: () => reply$ })
      const { source } = sweepStale(port, { workerId: 'w', lanes })

      expectObservable(source(slots)).toBe(expected, values)
      expectSubscriptions(reply$.subscriptions).toBe(subscription)
      flush()

      expect(port.calls.sweep).toEqual([[{ workerId: 'w', slots, lanes: [mail] }]])
    })
  })

  it('completes without asking until something can be stale', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const reply$ = cold('-(r|)', { r: sweepReply([], { nextStaleMs: 500 }) })
      const port = marbleLanePort({ sweep: () => reply$ })
      const { source } = sweepStale(port, { workerId: 'w', lanes })

      expectObservable(source(['first'])).toBe('-|')
      expectObservable(source(['too early']), '500ms ^').toBe('500ms |')
      expectObservable(source(['due']), '501ms ^').toBe('502ms |')
      flush()

      expect(port.demands('sweep')).toEqual([['first'], ['due']])
    })
  })

  it('sweeps at most once in the least interval, whatever the reply says', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const reply$ = cold('(r|)', { r: sweepReply([], { nextStaleMs: 0 }) })
      const port = marbleLanePort({ sweep: () => reply$ })
      const { source } = sweepStale(port, { workerId: 'w', lanes, minIntervalMs: 20 })

      for (const at of [0, 5, 19, 20, 39, 40]) expectObservable(source([String(at)]), `${at}ms ^`).toBe(`${at}ms |`)
      flush()

      expect(port.demands('sweep')).toEqual([['0'], ['20'], ['40']])
    })
  })

  it('goes on at the least interval until the lanes are walked through, and then minds what it saw first', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const halfway = sweepReply([], { nextStaleMs: 300, positions: new Map([[mail.lane.name, '(1-1']]) })
      const through = sweepReply([], { nextStaleMs: 60_000, positions: new Map([[mail.lane.name, '-']]) })
      const answers = [cold('(r|)', { r: halfway }), cold('(r|)', { r: through })]
      const port = marbleLanePort({ sweep: () => answers.shift() ?? cold('|') })
      const { source } = sweepStale(port, { workerId: 'w', lanes, minIntervalMs: 20 })

      for (const at of [0, 19, 20, 299, 300]) expectObservable(source([String(at)]), `${at}ms ^`).toBe(`${at}ms |`)
      flush()

      expect(port.demands('sweep')).toEqual([['0'], ['20'], ['300']])
      expect(port.calls.sweep[1]?.[0].positions?.get(mail.lane.name)).toBe('(1-1')
    })
  })

  it('sweeps again for the next free slot when the slots were the limit', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const some = sweepReply([claimOf('0')], { nextStaleMs: 0 })
      const last = sweepReply([claimOf('1')], { nextStaleMs: 500 })
      const answers = [cold('(r|)', { r: some }), cold('(r|)', { r: last })]
      const port = marbleLanePort({ sweep: () => answers.shift() ?? cold('#') })
      const { source } = sweepStale(port, { workerId: 'w', lanes, minIntervalMs: 20 })

      for (const at of [0, 1, 2]) expectObservable(source([String(at)]), `${at}ms ^`)
      flush()

      expect(port.demands('sweep')).toEqual([['0'], ['1']])
    })
  })

  it('waits for the least interval after a failure, and asks for the same again', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = marbleLanePort({ sweep: () => cold('-#') })
      const { source } = sweepStale(port, { workerId: 'w', lanes })

      expectObservable(source(['0'])).toBe('-#')
      expectObservable(source(['99']), '99ms ^').toBe('99ms |')
      expectObservable(source(['100']), '100ms ^').toBe('101ms #')
      flush()

      expect(port.demands('sweep')).toEqual([['0'], ['100']])
    })
  })

  it('does not ask twice while a sweep is on its way', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = marbleLanePort({ sweep: () => cold('50ms (o|)', replies) })
      const { source } = sweepStale(port, { workerId: 'w', lanes })

      expectObservable(source(slots)).toBe('50ms (a|)', values)
      expectObservable(source(slots), '20ms ^').toBe('20ms |')
      flush()

      expect(port.demands('sweep')).toEqual([slots])
    })
  })

  it('tells when the next sweep is due', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const due: number[] = []
      const port = marbleLanePort({ sweep: () => cold('--(r|)', { r: sweepReply([], { nextStaleMs: 300 }) }) })
      const sweep = sweepStale(port, { workerId: 'w', lanes })
      const look = (at: string): void => {
        cold(at).subscribe({ complete: () => due.push(sweep.dueInMs()) })
      }

      expect(sweep.dueInMs()).toBe(0)
      expectObservable(sweep.source(slots)).toBe('--|')
      for (const at of ['-|', '3ms |', '202ms |', '302ms |', '900ms |']) look(at)
      flush()

      expect(due).toEqual([99, 299, 100, 0, 0])
    })
  })

  it('goes on from the positions of the last reply', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const positions = new Map([['mail:v1', '(5-1']])
      const port = marbleLanePort({ sweep: () => cold('(r|)', { r: sweepReply([], { positions, nextStaleMs: 0 }) }) })
      const { source } = sweepStale(port, { workerId: 'w', lanes })

      expectObservable(source(slots)).toBe('|')
      expectObservable(source(slots), '100ms ^').toBe('100ms |')
      flush()

      expect(port.calls.sweep.map(([request]) => request.positions)).toEqual([undefined, positions])
    })
  })

  it('reads the reply even if it is left early, and hands the claims back', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const reply$ = cold('---(m|)', replies)
      const events: LaneEvent[] = []
      const port = marbleLanePort({ sweep: () => reply$, handBack: () => cold('#', undefined, 'away') })
      const { source } = sweepStale(port, { workerId: 'w', lanes, report: (event) => events.push(event) })

      expectObservable(source(slots), '-!').toBe('-')
      expectSubscriptions(reply$.subscriptions).toBe('^--!')
      flush()

      expect(port.calls.handBack).toEqual([[[a, b]]])
      expect(events).toEqual([{ kind: 'brokerError', activity: 'handBack', error: 'away', restMs: 0 }])
    })
  })

  it('errors if lanes or the port throws', () => {
    marbles(({ expectObservable }) => {
      const fail = (): never => {
        throw new Error('thrown')
      }
      const throwing = marbleLanePort({ sweep: fail })

      expectObservable(sweepStale(throwing, { workerId: 'w', lanes }).source(slots)).toBe('#', {}, new Error('thrown'))
      const { source } = sweepStale(marbleLanePort(), { workerId: 'w', lanes: fail })
      expectObservable(source(slots)).toBe('#', {}, new Error('thrown'))
    })
  })

  it('asks nothing before it is subscribed to', () => {
    const port = marbleLanePort({ sweep: () => of(sweepReply()), handBack: () => EMPTY })
    const claim$ = sweepStale(port, { workerId: 'w', lanes }).source(slots)

    expect(port.demands('sweep')).toEqual([])
    claim$.subscribe()
    expect(port.demands('sweep')).toEqual([slots])
  })

  it('looks back when a read was not answered, however early, after the wait that may be open still was ended', () => {
    marbles(({ cold, expectObservable, flush }) => {
      const port = marbleLanePort({
        sweep: () => cold('-(r|)', { r: port.calls.sweep.length === 2 ? replies.o : replies.n }),
        wake: () => cold<undefined>('--(v|)', { v: undefined }),
      })
      const sweep = sweepStale(port, { workerId: 'w', lanes })
      cold('10ms (x|)').subscribe(() => {
        expect(sweep.dueInMs()).toBeGreaterThan(1_000)
        sweep.lookBack()
        expect(sweep.dueInMs()).toBe(0)
      })

      expectObservable(sweep.source(slots)).toBe('-|')
      expectObservable(sweep.source(slots), '20ms ^').toBe('20ms ---(a|)', values)
      expectObservable(sweep.source(slots), '200ms ^').toBe('200ms |')
      flush()

      expect(port.calls.wake).toEqual([['w']])
      expect(port.calls.sweep.map(([{ isUnanswered }]) => isUnanswered)).toEqual([undefined, true])
    })
  })

  it.each([
    ['it fails', '-#'],
    ['the worker cannot be woken', ''],
    ['there were more than it had slots for', '-(c|)'],
  ])('looks back again if %s', (_, marble) => {
    marbles(({ cold, flush }) => {
      const answers = { ...replies, c: sweepReply([a, b], { nextStaleMs: 0 }) }
      const port = marbleLanePort({
        sweep: () => cold(port.calls.sweep.length > 1 ? '(n|)' : marble, answers),
        wake: () => (marble === '' && port.calls.wake.length === 1 ? cold('#') : EMPTY),
      })
      const sweep = sweepStale(port, { workerId: 'w', lanes })
      sweep.lookBack()

      sweep.source(slots).subscribe({ error: () => undefined })
      flush()
      expect(sweep.dueInMs()).toBe(0)
      sweep.source(slots).subscribe()
      flush()

      expect(port.calls.sweep.at(-1)?.[0].isUnanswered).toBe(true)
      if (marble !== '') expect(sweep.dueInMs()).toBeGreaterThan(0)
    })
  })
})
