import { defer, type Observable } from 'rxjs'

import type { LanePort } from '../port/lanePort.js'

/**
 * The name of an operation of {@link LanePort}.
 *
 * @example
 * for (const operation of ['read', 'sweep'] satisfies LaneOperation[]) port.failNext(operation, new Error('away'))
 */
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
  /** The arguments of each call, by operation. */
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
    wake: [],
    promote: [],
    settle: [],
    extend: [],
    handBack: [],
    enqueue: [],
    knownLanes: [],
    retire: [],
    lease: [],
  }
  const cold = <Call, Reply>(log: Call[], call: Call, source: () => Observable<Reply>): Observable<Reply> =>
    defer(() => {
      log.push(call)
      return source()
    })
  const port: LanePort = {
    read(request) {
      return cold(calls.read, [request], () => target().read(request))
    },
    sweep(request) {
      return cold(calls.sweep, [request], () => target().sweep(request))
    },
    listen(request) {
      return cold(calls.listen, [request], () => target().listen(request))
    },
    wake(workerId) {
      return cold(calls.wake, [workerId], () => target().wake(workerId))
    },
    promote(request) {
      return cold(calls.promote, [request], () => target().promote(request))
    },
    settle(claim, settlement) {
      return cold(calls.settle, [claim, settlement], () => target().settle(claim, settlement))
    },
    extend(claims) {
      return cold(calls.extend, [claims], () => target().extend(claims))
    },
    handBack(claims) {
      return cold(calls.handBack, [claims], () => target().handBack(claims))
    },
    enqueue(entry) {
      return cold(calls.enqueue, [entry], () => target().enqueue(entry))
    },
    knownLanes() {
      return cold(calls.knownLanes, [], () => target().knownLanes())
    },
    retire(request) {
      return cold(calls.retire, [request], () => target().retire(request))
    },
    lease(input) {
      return cold(calls.lease, [input], () => target().lease(input))
    },
  }
  return {
    ...port,
    calls,
    demands(operation = 'read') {
      return calls[operation].map(([{ slots }]) => slots)
    },
  }
}
