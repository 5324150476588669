import { type Observable, throwError } from 'rxjs'

import type { LanePort } from '../port/lanePort.js'
import { type LaneOperation, recordCalls, type RecordedCalls } from './portCalls.js'

/**
 * A port made of marbles, which also tells what it was asked.
 *
 * @example
 * import { NEVER } from 'rxjs'
 * const port: MarbleLanePort = marbleLanePort({ read: () => NEVER })
 * port.demands() // [] until somebody reads
 */
export type MarbleLanePort = LanePort & RecordedCalls

/**
 * A {@link LanePort} in which each operation is a marble. Every subscription is recorded; an operation that was not given
 * errors and says so.
 *
 *     read: () => cold('--(a|)', { a: readReply([claim]) })
 *     asked for s0 and s1        ^
 *     emits                      --(a|)
 *
 * @param operations for each operation what it answers, given its arguments; called once a subscription
 *
 * @example
 * import { deepStrictEqual } from 'node:assert'
 * import { TestScheduler } from 'rxjs/testing'
 * new TestScheduler(deepStrictEqual).run(({ cold, expectObservable }) => {
 *   const claim = claimOf('w-slot-0')
 *   const port = marbleLanePort({ read: () => cold('--(r|)', { r: readReply([claim]) }) })
 *   const source = readNew(port, { workerId: 'w', lanes: () => [] })
 *   expectObservable(source(['w-slot-0'])).toBe('--(c|)', { c: claim })
 * })
 */
export const marbleLanePort = (operations: Partial<LanePort> = {}): MarbleLanePort => {
  const port: LanePort = {
    read: () => notGiven('read'),
    sweep: () => notGiven('sweep'),
    listen: () => notGiven('listen'),
    wake: () => notGiven('wake'),
    promote: () => notGiven('promote'),
    settle: () => notGiven('settle'),
    extend: () => notGiven('extend'),
    handBack: () => notGiven('handBack'),
    enqueue: () => notGiven('enqueue'),
    knownLanes: () => notGiven('knownLanes'),
    retire: () => notGiven('retire'),
    lease: () => notGiven('lease'),
    ...operations,
  }
  return recordCalls(() => port)
}

function notGiven(operation: LaneOperation): Observable<never> {
  return throwError(
    () => new TypeError(`marbleLanePort: ${operation} was asked but not given; pass { ${operation}: () => … }`),
  )
}
