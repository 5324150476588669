import type { ClaimedTask, QueueAdapter } from '@furystack/task-runner'
import { createClient } from 'redis'
import { lastValueFrom, NEVER, Observable, type Subscription } from 'rxjs'

import { receiptOf } from '../../src/adapter/claimReceipt.js'
import { heartbeats } from '../../src/adapter/heartbeats.js'
import { resolveQueueOptions } from '../../src/adapter/redisQueueOptions.js'
import { subscribeWorker } from '../../src/adapter/subscribeWorker.js'
import type { Connection } from '../../src/connection/connection.js'
import { lane } from '../../src/keys/lane.js'
import type { LanePort } from '../../src/port/lanePort.js'
import type { VirtualLanePort } from '../../src/testing/index.js'
import type { Link } from './link.js'

const capabilities = Object.freeze({
  persistent: true,
  distributed: true,
  delayedDispatch: true,
  fleetCapEnforcement: true,
  brokerSideReclaim: true,
})

/** Nothing is ever connected; the options ask for a client. */
const NO_CLIENT = createClient()

/** An operation over a link. Whoever stops listening is not woken any more; every other effect stands. */
function over<T>(link: Link, name: keyof LanePort, source: Observable<T>): Observable<T> {
  return new Observable<T>((out) => {
    let inner: Subscription | undefined
    const ask = (): Promise<T[]> =>
      new Promise((resolve, reject) => {
        const values: T[] = []
        if (name === 'listen' && out.closed) return
        inner = source.subscribe({
          next: (value) => values.push(value),
          error: reject,
          complete: () => {
            resolve(values)
          },
        })
        if (name === 'listen') void link.died.then(() => inner?.unsubscribe())
      })
    out.add(() => {
      if (name === 'listen') inner?.unsubscribe()
    })
    link.call(name, ask).then(
      (values) => {
        for (const value of values) out.next(value)
        out.complete()
      },
      (error: unknown) => {
        out.error(error)
      },
    )
  })
}

const portOver = (port: LanePort, link: Link): LanePort =>
  ({
    read: (request) => over(link, 'read', port.read(request)),
    sweep: (request) => over(link, 'sweep', port.sweep(request)),
    listen: (request) => over(link, 'listen', port.listen(request)),
    wake: (workerId) => over(link, 'wake', port.wake(workerId)),
    promote: (request) => over(link, 'promote', port.promote(request)),
    settle: (claim, settlement) => over(link, 'settle', port.settle(claim, settlement)),
    extend: (claims) => over(link, 'extend', port.extend(claims)),
    handBack: (claims) => over(link, 'handBack', port.handBack(claims)),
    enqueue: (entry) => over(link, 'enqueue', port.enqueue(entry)),
    knownLanes: () => over(link, 'knownLanes', port.knownLanes()),
    retire: (request) => over(link, 'retire', port.retire(request)),
    lease: (input) => over(link, 'lease', port.lease(input)),
  }) satisfies LanePort

/**
 * The queue of one process over lanes in memory that outlive it: the claims, the sweeps, the settling and the heartbeats
 * are those of the adapter for Redis.
 */
export const virtualQueueAdapter = (lanes: VirtualLanePort, link: Link): QueueAdapter & AsyncDisposable => {
  const options = resolveQueueOptions({
    client: NO_CLIENT,
    serviceName: 'test',
    blockTimeoutMs: 5_000,
    schedulerIntervalMs: 2_000,
  })
  const port = portOver(lanes, link)
  const report = (): void => undefined
  const beats = heartbeats(port, report)
  const workers = new Set<AsyncDisposable>()
  const reader: Connection = {
    isReady: true,
    isAwaiting: false,
    send: () => Promise.reject(new Error('there is no connection')),
    replace: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const dispose = async (): Promise<void> => {
    await Promise.all([...workers].map((worker) => worker[Symbol.asyncDispose]()))
  }
  return {
    capabilities,
    enqueue: async ({ taskId, type, handlerVersion, tags, notBefore }) => {
      const entry = { taskId, lane: lane(type, handlerVersion, tags) }
      await lastValueFrom(port.enqueue({ ...entry, ...(notBefore && { notBefore: notBefore.getTime() }) }), {
        defaultValue: undefined,
      })
    },
    subscribe: (subscription) => {
      const worker = subscribeWorker({ subscription, port, reader, options, usable$: NEVER, report })
      workers.add(worker)
      return worker
    },
    heartbeat: async (claim: ClaimedTask) => {
      const receipt = receiptOf(claim)
      if (!receipt.isSettled) await lastValueFrom(beats.renew(receipt), { defaultValue: undefined })
    },
    acquireIdempotencyLease: (input) => lastValueFrom(port.lease(input), { defaultValue: input.taskId }),
    [Symbol.dispose]: () => void dispose(),
    [Symbol.asyncDispose]: dispose,
  }
}
