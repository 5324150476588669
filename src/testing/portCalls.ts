import { defer, type Observable } from 'rxjs'

import type { LanePort } from '../port/lanePort.js'

/** The name of an operation of {@link LanePort}. */
export type LaneOperation = keyof LanePort

/**
 * What a port was asked, by operation, in the order of the subscriptions; each call is the list of its arguments.
 *
 * @example
 * port.calls.settle.map(([claim]) => claim.taskId) // ['a', 'b']
 */
export type PortCalls = { readonly [Op in LaneOperation]: readonly Parameters<LanePort[Op]>[] }

/**
 * What the ports for tests tell about how they were used.
 *
 * @example
 * port.demands() // [['w-slot-0', 'w-slot-1'], ['w-slot-1']]
 * port.calls.promote.length // 3
 */
export interface RecordedCalls {
  readonly calls: PortCalls
  /** The slots that each read (or each sweep) asked for, in the order of the subscriptions. */
  demands(operation?: 'read' | 'sweep'): readonly (readonly string[])[]
}

type Log = { readonly [Op in LaneOperation]: Parameters<LanePort[Op]>[] }

/** Puts a record of what is subscribed to in front of a port that may change between two calls. */
export const recordCalls = (target: () => LanePort): LanePort & RecordedCalls => {
  const calls: Log = {
    read: [],
    sweep: [],
    listen: [],
    promote: [],
    settle: [],
    extend: [],
    handBack: [],
    enqueue: [],
    knownLanes: [],
    retire: [],
    lease: [],
  }
  const cold = <Call, Reply>(log: Call[], call: Call, ask: () => Observable<Reply>): Observable<Reply> =>
    defer(() => {
      log.push(call)
      return ask()
    })
  return {
    read: (request) => cold(calls.read, [request], () => target().read(request)),
    sweep: (request) => cold(calls.sweep, [request], () => target().sweep(request)),
    listen: (request) => cold(calls.listen, [request], () => target().listen(request)),
    promote: (request) => cold(calls.promote, [request], () => target().promote(request)),
    settle: (claim, settlement) => cold(calls.settle, [claim, settlement], () => target().settle(claim, settlement)),
    extend: (claims) => cold(calls.extend, [claims], () => target().extend(claims)),
    handBack: (claims) => cold(calls.handBack, [claims], () => target().handBack(claims)),
    enqueue: (entry) => cold(calls.enqueue, [entry], () => target().enqueue(entry)),
    knownLanes: () => cold(calls.knownLanes, [], () => target().knownLanes()),
    retire: (request) => cold(calls.retire, [request], () => target().retire(request)),
    lease: (input) => cold(calls.lease, [input], () => target().lease(input)),
    calls,
    demands: (operation = 'read') => calls[operation].map(([{ slots }]) => slots),
  }
}
